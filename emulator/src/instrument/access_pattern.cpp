#include "access_pattern.h"

#include <algorithm>
#include <array>

namespace emu {
namespace {

constexpr unsigned kBanks = 32;
constexpr unsigned kBankWidth = kWavefrontSize / kBanks;
constexpr unsigned kWarp = 32;

// How many of the active lanes have a lower number.
unsigned lanesBefore(const WarpAccess& access, unsigned lane) {
    const uint64_t below = (uint64_t{1} << lane) - 1;
    return static_cast<unsigned>(__builtin_popcountll(access.lanes & below));
}

// Different bytes that the accesses [first, end) touch.
unsigned bytesOf(const WarpAccess& access, unsigned first, unsigned end) {
    std::array<uintptr_t, kWarp> addresses;
    const auto last = std::copy(access.address + first, access.address + end, addresses.begin());
    if (!std::is_sorted(addresses.begin(), last)) std::sort(addresses.begin(), last);
    unsigned bytes = 0;
    uintptr_t covered = 0;  // the end of what has been counted
    for (auto address = addresses.begin(); address != last; ++address) {
        const uintptr_t to = *address + access.size;
        bytes += static_cast<unsigned>(to - std::min(to, std::max(*address, covered)));
        covered = std::max(covered, to);
    }
    return bytes;
}

// Passes that the accesses [first, end) need together: the most different words in one bank.
unsigned passesOf(const WarpAccess& access, unsigned first, unsigned end) {
    std::array<std::array<uintptr_t, kWarp * 4>, kBanks> words;
    std::array<unsigned, kBanks> found{};
    unsigned most = 0;
    for (unsigned i = first; i < end; ++i) {
        const uintptr_t from = access.address[i] / kBankWidth;
        const uintptr_t to = (access.address[i] + access.size - 1) / kBankWidth;
        for (uintptr_t word = from; word <= to; ++word) {
            auto& bank = words[word % kBanks];
            unsigned& count = found[word % kBanks];
            const auto last = bank.begin() + count;
            if (std::find(bank.begin(), last, word) != last) continue;
            bank[count++] = word;
            most = std::max(most, count);
        }
    }
    return most;
}

}  // namespace

unsigned bytesOf(const WarpAccess& access) {
    return bytesOf(access, 0, access.count());
}

unsigned sectorsOf(const WarpAccess& access) {
    std::array<uintptr_t, kWarp * 2> seen;
    unsigned count = 0;
    for (unsigned i = 0; i < access.count(); ++i) {
        const uintptr_t from = access.address[i] / kSectorSize;
        const uintptr_t to = (access.address[i] + access.size - 1) / kSectorSize;
        for (uintptr_t sector = from; sector <= to; ++sector) {
            // Mostly lanes go through memory in order: the last sector found is the likely one.
            if (count > 0 && seen[count - 1] == sector) continue;
            const auto last = seen.begin() + count;
            if (std::find(seen.begin(), last, sector) == last) seen[count++] = sector;
        }
    }
    return count;
}

SharedCost sharedCostOf(const WarpAccess& access) {
    // Lanes that go at once if they are free of conflicts, else in two portions. Of a store only
    // those that go together anyway.
    const unsigned words = (access.size + kBankWidth - 1) / kBankWidth;
    const unsigned most = std::min(kWarp, (access.store ? 1 : 2) * kWarp / words);
    SharedCost cost;
    cost.bytes = bytesOf(access);
    for (unsigned lane = 0; lane < kWarp; lane += most) {
        const unsigned first = lanesBefore(access, lane), end = lanesBefore(access, lane + most);
        if (first == end) continue;
        const unsigned together = passesOf(access, first, end);
        if (access.size <= kBankWidth || access.store || together == 1) {
            cost.wavefronts += together;
            cost.conflicts += together - 1;
            continue;
        }
        const unsigned middle = lanesBefore(access, lane + most / 2);
        const unsigned passes = passesOf(access, first, middle) + passesOf(access, middle, end);
        // Without conflicts each of these would take as many as its bytes need.
        const unsigned half = kWarp / 2;
        unsigned needed = 0;
        for (unsigned from = lane; from < lane + most; from += half) {
            const unsigned bytes =
                bytesOf(access, lanesBefore(access, from), lanesBefore(access, from + half));
            needed += (bytes + kWavefrontSize - 1) / kWavefrontSize;
        }
        cost.wavefronts += passes;
        cost.conflicts += passes - needed;
    }
    return cost;
}

}  // namespace emu
