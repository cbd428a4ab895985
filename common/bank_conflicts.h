#pragma once
// What a load or store of a warp costs in shared memory, predicted from its addresses. The
// exercise sharedBanks compares it with what a GPU counts.

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

namespace banks {

constexpr std::size_t kWarp = 32;  // lanes
constexpr std::size_t kBanks = 32;
constexpr std::size_t kWordBytes = 4;  // what a bank delivers in a turn: word w lies in bank w % 32

enum class Access { kLoad, kStore };

// Turns of the lanes [first, last) together. A bank serves all lanes that want the same word in one
// turn, and one word after the other: it takes as long as the bank with the most words.
inline unsigned turnsTogether(const std::vector<std::size_t>& addresses, std::size_t bytes,
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

// Whether the lanes [first, last) want in pairs the same: lane i what lane i ^ apart wants.
inline bool paired(const std::vector<std::size_t>& addresses, std::size_t first, std::size_t last,
                   std::size_t apart) {
    for (std::size_t lane = first; lane < std::min(last, addresses.size()); ++lane) {
        const std::size_t other = lane ^ apart;
        if (other < addresses.size() && addresses[lane] != addresses[other]) return false;
    }
    return true;
}

// Turns (profilers say wavefronts) of an access of `bytes` (1 to 16) per lane, at the addresses of
// lane 0, 1, 2 ... A turn moves 128 bytes at most: a warp that wants 8 for each lane is served by
// halves, one that wants 16 by quarters. Two neighbouring parts of a load share a turn if they fit
// into it and lanes want in pairs the same, as when all do; of a store they do not.
inline unsigned turns(const std::vector<std::size_t>& addresses, std::size_t bytes, Access access) {
    const std::size_t part = kWarp * kWordBytes / std::max(bytes, kWordBytes);  // lanes
    const auto turnsOf = [&](std::size_t first, std::size_t lanes) {
        return turnsTogether(addresses, bytes, first, first + lanes);
    };
    unsigned sum = 0;
    for (std::size_t lane = 0; lane < kWarp; lane += 2 * part) {
        const bool pairs = paired(addresses, lane, lane + 2 * part, 1) ||
                           paired(addresses, lane, lane + 2 * part, 2);
        const bool shared = access == Access::kLoad && pairs && turnsOf(lane, 2 * part) == 1;
        sum += shared ? 1 : turnsOf(lane, part) + turnsOf(lane + part, part);
    }
    return sum;
}

// Turns of all warps of a block: thread t's element has the number elementOf(t).
template <typename ElementOf>
unsigned turnsOfBlock(unsigned threads, std::size_t bytes, Access access, ElementOf elementOf) {
    unsigned sum = 0;
    for (unsigned first = 0; first < threads; first += kWarp) {
        std::vector<std::size_t> addresses;
        for (unsigned t = first; t < std::min<std::size_t>(first + kWarp, threads); ++t)
            addresses.push_back(elementOf(t) * bytes);
        sum += turns(addresses, bytes, access);
    }
    return sum;
}

}  // namespace banks
