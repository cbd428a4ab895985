// What __syncwarp() has ordered among the lanes of each warp of a block, and mbarriers among all
// of its threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/limits.h"

namespace emu {

// Each lane has a clock that counts its synchronisations, and knows up to which clock of every
// other lane it has been told (vector clocks). In a block with mbarriers it knows that of every
// thread, and of the copies that an mbarrier waits for: each mbarrier has a number behind those of
// the threads, under which they are done.
class WarpClocks {
  public:
    using Clocks = std::array<uint32_t, kWarpSize>;
    using Known = std::vector<uint32_t>;  // by rank, and by number of an mbarrier

    void beginBlock(unsigned threads) {
        threads_ = threads;
        whole_ = false;
        for (unsigned rank = 0; rank < threads; ++rank) {
            clocks_[rank].fill(0);
            clocks_[rank][rank % kWarpSize] = 1;
        }
    }

    // The lanes `mask` of a warp have synchronised.
    void synced(unsigned warp, unsigned mask) {
        Clocks joined{};
        const auto forEachLane = [&](auto&& action) {
            for (unsigned lane = 0; lane < kWarpSize; ++lane) {
                if (mask >> lane & 1) action(lane, clocks_[warp * kWarpSize + lane]);
            }
        };
        if (whole_) {
            Known known(rowSize());
            forEachLane([&](unsigned lane, Clocks&) { tell(warp * kWarpSize + lane, &known); });
            forEachLane([&](unsigned lane, Clocks&) { learn(warp * kWarpSize + lane, known); });
        }
        forEachLane([&](unsigned, const Clocks& clocks) {
            for (unsigned i = 0; i < kWarpSize; ++i) joined[i] = std::max(joined[i], clocks[i]);
        });
        forEachLane([&](unsigned lane, Clocks& clocks) {
            clocks = joined;
            ++clocks[lane];
        });
    }

    // What `rank` knows of its warp. What it does from now on is told from what it has done.
    Clocks cut(unsigned rank) {
        const Clocks known = clocks_[rank];
        ++clocks_[rank][rank % kWarpSize];
        return known;
    }

    // ---- mbarriers

    // More of them share the last number.
    static constexpr unsigned kMostBarriers = 32;

    // From now on the block has mbarriers.
    void begin() {
        if (whole_) return;
        whole_ = true;
        known_.assign(rowSize() * rowSize(), 0);
        for (unsigned barrier = 0; barrier < kMostBarriers; ++barrier) ++own(numberOf(barrier));
    }
    bool ofWholeBlock() const { return whole_; }
    unsigned numberOf(unsigned barrier) const {
        return threads_ + std::min(barrier, kMostBarriers - 1);
    }

    // The thread arrives; an mbarrier `known` knows all that it does.
    void arrives(unsigned rank, Known* known) {
        known->resize(rowSize());
        tell(rank, known);
        ++clocks_[rank][rank % kWarpSize];
    }
    // It has waited.
    void waited(unsigned rank, const Known& known) {
        if (!known.empty()) learn(rank, known);
    }
    // It begins a copy that the mbarrier `number` waits for; and these are done.
    void copyBegins(unsigned rank, unsigned number) {
        Known known(rowSize());
        arrives(rank, &known);
        learn(number, known);
    }
    void copiesEnd(unsigned number, Known* known) {
        known->resize(rowSize());
        tell(number, known);
        ++own(number);
    }

    uint32_t clockOf(unsigned rank) const {
        return rank < threads_ ? clocks_[rank][rank % kWarpSize] : known_[rank * rowSize() + rank];
    }

    // Whether what `before` did at its clock `clock` is ordered before what `rank` does now.
    bool ordered(unsigned before, uint32_t clock, unsigned rank) const {
        if (before / kWarpSize == rank / kWarpSize && std::max(before, rank) < threads_) {
            return clocks_[rank][before % kWarpSize] >= clock;
        }
        return whole_ && known_[rank * rowSize() + before] >= clock;
    }

  private:
    size_t rowSize() const { return threads_ + kMostBarriers; }
    uint32_t& own(unsigned number) { return known_[number * rowSize() + number]; }
    template <typename Action>
    void forLanesAround(unsigned rank, Action action) {
        if (rank >= threads_) return;
        const unsigned first = rank / kWarpSize * kWarpSize;
        for (unsigned other = first; other < std::min(first + kWarpSize, threads_); ++other) {
            action(other, clocks_[rank][other - first]);
        }
    }
    void tell(unsigned rank, Known* known) {
        const uint32_t* const row = &known_[rank * rowSize()];
        for (size_t i = 0; i < rowSize(); ++i) (*known)[i] = std::max((*known)[i], row[i]);
        forLanesAround(rank, [&](unsigned other, uint32_t clock) {
            (*known)[other] = std::max((*known)[other], clock);
        });
    }
    void learn(unsigned rank, const Known& known) {
        uint32_t* const row = &known_[rank * rowSize()];
        for (size_t i = 0; i < rowSize(); ++i) row[i] = std::max(row[i], known[i]);
        forLanesAround(
            rank, [&](unsigned other, uint32_t& clock) { clock = std::max(clock, known[other]); });
    }

    std::vector<Clocks> clocks_ = std::vector<Clocks>(kMaxThreadsPerBlock);
    unsigned threads_ = 0;
    bool whole_ = false;
    std::vector<uint32_t> known_;  // rows of threads and mbarriers, but for lanes of the same warp
};

}  // namespace emu
