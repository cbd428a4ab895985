#pragma once
// Predicts from the addresses of a warp how many wavefronts its load or store takes in shared
// memory. The exercise sharedBanks compares this with the counts of a GPU.

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

namespace banks {

constexpr std::size_t kWarp = 32;  // lanes
constexpr std::size_t kBanks = 32;
constexpr std::size_t kWordBytes = 4;  // of a bank in a wavefront: word w lies in bank w % 32

enum class Access { kLoad, kStore };

// The wavefronts of the lanes [first, last) if the hardware serves them together. In one wavefront,
// a bank delivers one word, to all lanes that want it. So the bank with the most words decides.
inline unsigned wavefrontsTogether(const std::vector<std::size_t>& addresses, std::size_t bytes,
                                   std::size_t first, std::size_t last) {
    std::array<std::set<std::size_t>, kBanks> words;
    for (std::size_t lane = first; lane < std::min(last, addresses.size()); ++lane) {
        for (std::size_t byte = 0; byte < bytes; byte += kWordBytes) {
            const std::size_t word = (addresses[lane] + byte) / kWordBytes;
            words[word % kBanks].insert(word);
        }
    }
    std::size_t most = 0;
    for (const auto& ofBank : words) most = std::max(most, ofBank.size());
    return static_cast<unsigned>(most);
}

// Whether the lanes [first, last) want the same in pairs: lane i wants what lane i ^ apart wants.
inline bool paired(const std::vector<std::size_t>& addresses, std::size_t first, std::size_t last,
                   std::size_t apart) {
    for (std::size_t lane = first; lane < std::min(last, addresses.size()); ++lane) {
        const std::size_t other = lane ^ apart;
        if (other < addresses.size() && addresses[lane] != addresses[other]) return false;
    }
    return true;
}

// The wavefronts of an access of `bytes` (1 to 16) for each lane, at the addresses of lanes 0, 1, 2
// ... A wavefront moves at most 128 bytes. So a warp that wants 8 bytes for each lane is served by
// halves, and with 16 bytes by quarters. Two neighbouring parts of a load share a wavefront if both
// fit into it and the lanes want the same in pairs, as they do if all lanes want the same. Parts of
// a store never share one.
inline unsigned wavefronts(const std::vector<std::size_t>& addresses, std::size_t bytes,
                           Access access) {
    const std::size_t part = kWarp * kWordBytes / std::max(bytes, kWordBytes);  // lanes
    const auto wavefrontsOf = [&](std::size_t first, std::size_t lanes) {
        return wavefrontsTogether(addresses, bytes, first, first + lanes);
    };
    unsigned sum = 0;
    for (std::size_t lane = 0; lane < kWarp; lane += 2 * part) {
        const bool pairs = paired(addresses, lane, lane + 2 * part, 1) ||
                           paired(addresses, lane, lane + 2 * part, 2);
        const bool shared = access == Access::kLoad && pairs && wavefrontsOf(lane, 2 * part) == 1;
        sum += shared ? 1 : wavefrontsOf(lane, part) + wavefrontsOf(lane + part, part);
    }
    return sum;
}

// The wavefronts of all warps of a block: thread t accesses element elementOf(t).
template <typename ElementOf>
unsigned wavefrontsOfBlock(unsigned threads, std::size_t bytes, Access access,
                           ElementOf elementOf) {
    unsigned sum = 0;
    for (unsigned first = 0; first < threads; first += kWarp) {
        std::vector<std::size_t> addresses;
        for (unsigned t = first; t < std::min<std::size_t>(first + kWarp, threads); ++t)
            addresses.push_back(elementOf(t) * bytes);
        sum += wavefronts(addresses, bytes, access);
    }
    return sum;
}

}  // namespace banks
