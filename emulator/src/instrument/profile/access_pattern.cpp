#include "access_pattern.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace emu {
namespace {

constexpr unsigned kBanks = 32;
constexpr unsigned kBankWidth = kWavefrontSize / kBanks;
constexpr unsigned kWarp = 32;

// How many of these lanes have a lower number.
unsigned lanesBefore(uint32_t lanes, unsigned lane) {
    const uint64_t below = (uint64_t{1} << lane) - 1;
    return static_cast<unsigned>(__builtin_popcountll(lanes & below));
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

// Whether the active lanes of [lane, last) want in pairs the same: lane i what i ^ apart wants.
bool paired(const WarpAccess& access, unsigned lane, unsigned last, unsigned apart) {
    for (; lane < last; ++lane) {
        const unsigned other = lane ^ apart;
        if ((access.lanes >> lane & access.lanes >> other & 1) == 0) continue;
        if (access.address[lanesBefore(access.lanes, lane)] !=
            access.address[lanesBefore(access.lanes, other)])
            return false;
    }
    return true;
}

constexpr uintptr_t kLineSize = 128;  // bytes of the L1 cache
constexpr uint32_t kPastL1 = 16;      // copies of so many bytes

// The pass through the banks that each of the lanes [first, end) takes, in their order, if lanes
// with the same bank take turns.
std::array<unsigned, kWarp> turnsOf(const uintptr_t* address, unsigned first, unsigned end,
                                    unsigned size) {
    std::array<unsigned, kBanks> next{};
    std::array<unsigned, kWarp> turns{};
    for (unsigned i = first; i < end; ++i) {
        const uintptr_t word = address[i] / kBankWidth;
        unsigned& turn = turns[i];
        for (unsigned k = 0; k < size / kBankWidth; ++k) {
            turn = std::max(turn, next[(word + k) % kBanks]);
        }
        for (unsigned k = 0; k < size / kBankWidth; ++k) next[(word + k) % kBanks] = turn + 1;
    }
    return turns;
}

// Wavefronts of the copies [first, end), by way of the L1 cache: a pass that writes comes with the
// last one that reads for it, or after.
unsigned wavefrontsOf(const WarpCopy& copy, unsigned first, unsigned end) {
    const auto writes = turnsOf(copy.to, first, end, copy.size);
    std::array<unsigned, kWarp> reads{};
    if (copy.read > 0) reads = turnsOf(copy.from, first, end, copy.size);
    std::array<unsigned, kWarp> lastRead{};  // by turn of the writes
    unsigned passes = 0;
    for (unsigned i = first; i < end; ++i) {
        lastRead[writes[i]] = std::max(lastRead[writes[i]], reads[i]);
        passes = std::max(passes, writes[i] + 1);
    }
    unsigned wavefronts = 0;
    for (unsigned pass = 0; pass < passes; ++pass) {
        wavefronts = std::max(wavefronts, lastRead[pass]) + 1;
    }
    return wavefronts;
}

// Different values of `key` among the lanes.
template <class Key>
unsigned differentOf(const WarpCopy& copy, Key key) {
    std::array<decltype(key(0u)), kWarp> keys;
    for (unsigned i = 0; i < copy.count(); ++i) keys[i] = key(i);
    std::sort(keys.begin(), keys.begin() + copy.count());
    return static_cast<unsigned>(std::unique(keys.begin(), keys.begin() + copy.count()) -
                                 keys.begin());
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

unsigned atomicSectorsOf(const WarpAccess& access) {
    std::array<uintptr_t, kWarp> addresses;
    const auto last = std::copy(access.address, access.address + access.count(), addresses.begin());
    std::sort(addresses.begin(), last);
    unsigned sum = 0, most = 0, alike = 0;
    for (auto address = addresses.begin(); address != last; ++address) {
        const uintptr_t before = address == addresses.begin() ? ~*address : address[-1];
        if (*address / kSectorSize != before / kSectorSize) {
            sum += most;
            most = 0;
        }
        alike = *address == before ? alike + 1 : 1;
        most = std::max(most, alike);
    }
    return sum + most;
}

SharedCost sharedCostOf(const WarpAccess& access) {
    // Lanes that go at once if they are paired and free of conflicts, else in two portions. Of a
    // store only those that go together anyway.
    const unsigned words = (access.size + kBankWidth - 1) / kBankWidth;
    const unsigned most = std::min(kWarp, (access.store ? 1 : 2) * kWarp / words);
    SharedCost cost;
    cost.bytes = bytesOf(access);
    for (unsigned lane = 0; lane < kWarp; lane += most) {
        const unsigned last = lane + most, first = lanesBefore(access.lanes, lane),
                       end = lanesBefore(access.lanes, last);
        if (first == end) continue;
        const unsigned together = passesOf(access, first, end);
        const bool pairs = paired(access, lane, last, 1) || paired(access, lane, last, 2);
        if (access.size <= kBankWidth || access.store || (pairs && together == 1)) {
            cost.wavefronts += together;
            cost.conflicts += together - 1;
            continue;
        }
        const unsigned middle = lanesBefore(access.lanes, lane + most / 2);
        const unsigned passes = passesOf(access, first, middle) + passesOf(access, middle, end);
        // Without conflicts each of these would take as many as its bytes need.
        const unsigned part = pairs ? kWarp / 2 : most / 2;
        unsigned needed = 0;
        for (unsigned from = lane; from < last; from += part) {
            const unsigned bytes = bytesOf(access, lanesBefore(access.lanes, from),
                                           lanesBefore(access.lanes, from + part));
            needed += (bytes + kWavefrontSize - 1) / kWavefrontSize;
        }
        cost.wavefronts += passes;
        cost.conflicts += passes - needed;
    }
    return cost;
}

CopyCost copyCostOf(const WarpCopy& copy) {
    const uintptr_t *from = copy.from, *to = copy.to;
    const bool pastL1 = copy.size == kPastL1;
    const auto distance = [&](unsigned i) { return from[i] - to[i]; };
    CopyCost cost;
    cost.sharedBytes = copy.count() * copy.size;
    if (copy.read > 0) {
        WarpAccess read;
        read.lanes = copy.lanes;
        read.size = copy.size;
        std::copy(from, from + copy.count(), read.address);
        cost.bytes = bytesOf(read);
        cost.sectors = cost.requested = sectorsOf(read);
    }
    if (copy.read > 0 && pastL1) {
        cost.requested = differentOf(copy, [&](unsigned i) {
            return std::make_pair(from[i] / kLineSize, to[i] / kSectorSize);
        });
        cost.sectors = differentOf(copy, [&](unsigned i) {
            return std::make_tuple(from[i] / kSectorSize, to[i] / kSectorSize, distance(i));
        });
        // The instruction says how many bytes are zeros by an address that is so much higher.
        const uint32_t zeros = copy.size - copy.read;
        cost.wavefronts = differentOf(copy, [&](unsigned i) {
            const uintptr_t half = from[i] / kPastL1 % 2;
            const bool fits = (distance(i) + zeros) % kSectorSize == 0;
            return std::make_tuple(from[i] / kLineSize, to[i] / kLineSize, distance(i),
                                   fits ? 0 : half);
        });
        return cost;
    }
    const unsigned together = kWarp * kBankWidth / copy.size;
    for (unsigned lane = 0; lane < kWarp; lane += together) {
        const unsigned first = lanesBefore(copy.lanes, lane);
        const unsigned end = lanesBefore(copy.lanes, lane + together);
        if (first == end) continue;
        const unsigned wavefronts = wavefrontsOf(copy, first, end);
        cost.wavefronts += wavefronts;
        cost.conflicts += wavefronts - 1;
    }
    return cost;
}

}  // namespace emu
