// Cooperative groups: the thread block and its tiles, coalesced threads, the grid.
#pragma once

#define _COOPERATIVE_GROUPS_H_

#include <cuda_runtime.h>

#include <type_traits>

namespace cooperative_groups {

namespace detail {

inline unsigned rankInBlock() {
    return emu::threadRankInBlock();
}
inline unsigned lane() {
    return emu::laneId();
}
inline unsigned blockSize() {
    return blockDim.x * blockDim.y * blockDim.z;
}

// The lanes of the calling thread's warp that exist: all 32 but for the last warp of an odd-sized
// block.
inline unsigned lanesOfWarp() {
    const unsigned first = rankInBlock() - lane();
    const unsigned lanes = blockSize() - first;
    return lanes >= 32 ? emu::kFullMask : (1u << lanes) - 1;
}

// Lane number of the `rank`-th lane of `mask`, counted from 0.
inline int nthLane(unsigned mask, unsigned rank) {
    for (; rank > 0 && mask != 0; --rank) mask &= mask - 1;
    return mask == 0 ? -1 : __builtin_ctz(mask);
}

inline unsigned rankInMask(unsigned mask) {
    return static_cast<unsigned>(__builtin_popcount(mask & ((1u << lane()) - 1)));
}

// Values of any size travel in pieces of up to 8 bytes.
template <emu::Shuffle kind, class T>
T shuffleAny(unsigned mask, const T& value, int sourceLane, const char* what, const char* file,
             int line) {
    static_assert(std::is_trivially_copyable<T>::value,
                  "a shuffled value must be trivially copyable");
    T result = value;
    for (size_t at = 0; at < sizeof(T); at += 8) {
        const size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
        uint64_t piece = 0;
        std::memcpy(&piece, reinterpret_cast<const char*>(&value) + at, bytes);
        piece =
            emu::collective(mask, &emu::resolveShuffle<kind>, piece, sourceLane, what, file, line)
                .result;
        std::memcpy(reinterpret_cast<char*>(&result) + at, &piece, bytes);
    }
    return result;
}

// What tiles and coalesced groups share: a set of lanes of one warp, ranked in ascending order.
class LaneGroup {
  public:
    unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return rankInMask(mask_); }
    unsigned meta_group_rank() const { return metaRank_; }
    unsigned meta_group_size() const { return metaSize_; }

    void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
        emu::collective(mask_, &emu::resolveSync, 0, 0, "group.sync()", file, line);
    }

    template <class T>
    T shfl(T value, int sourceRank, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) const {
        const unsigned count = size();
        return take<emu::Shuffle::Index>(value, static_cast<unsigned>(sourceRank) % count,
                                         "group.shfl()", file, line);
    }
    template <class T>
    T shfl_up(T value, unsigned delta, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) const {
        const unsigned rank = thread_rank();
        return take<emu::Shuffle::Up>(value, delta <= rank ? rank - delta : rank, "group.shfl_up()",
                                      file, line);
    }
    template <class T>
    T shfl_down(T value, unsigned delta, const char* file = __builtin_FILE(),
                int line = __builtin_LINE()) const {
        const unsigned rank = thread_rank();
        return take<emu::Shuffle::Down>(value, rank + delta < size() ? rank + delta : rank,
                                        "group.shfl_down()", file, line);
    }

    int any(int predicate, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
        return __any_sync(mask_, predicate, file, line);
    }
    int all(int predicate, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
        return __all_sync(mask_, predicate, file, line);
    }
    unsigned ballot(int predicate, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) const {
        return pack(__ballot_sync(mask_, predicate, file, line));
    }
    template <class T>
    unsigned match_any(T value, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) const {
        return pack(__match_any_sync(mask_, value, file, line));
    }
    template <class T>
    unsigned match_all(T value, int& predicate, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) const {
        return pack(__match_all_sync(mask_, value, &predicate, file, line));
    }

    // Bits of warp lanes; not part of CUDA's interface.
    unsigned laneMask() const { return mask_; }

  protected:
    LaneGroup(unsigned mask, unsigned metaRank, unsigned metaSize)
        : mask_(mask), metaRank_(metaRank), metaSize_(metaSize) {}

    template <emu::Shuffle kind, class T>
    T take(const T& value, unsigned sourceRank, const char* what, const char* file,
           int line) const {
        return shuffleAny<kind>(mask_, value, nthLane(mask_, sourceRank), what, file, line);
    }

    // From a bit per lane to a bit per rank.
    unsigned pack(unsigned lanes) const {
        unsigned ranks = 0, rank = 0;
        emu::forEachLane(mask_, [&](int lane) { ranks |= (lanes >> lane & 1) << rank++; });
        return ranks;
    }

    unsigned mask_;
    unsigned metaRank_;
    unsigned metaSize_;
};

}  // namespace detail

// All threads of a block.
class thread_block {
  public:
    static void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        emu::blockBarrier(false, "block.sync()", file, line);
    }
    static unsigned thread_rank() { return detail::rankInBlock(); }
    static unsigned size() { return detail::blockSize(); }
    static unsigned num_threads() { return detail::blockSize(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }

  private:
    thread_block() = default;
    friend thread_block this_thread_block();
};

inline thread_block this_thread_block() {
    return {};
}

// All threads of a grid that was launched with cudaLaunchCooperativeKernel().
class grid_group {
  public:
    bool is_valid() const { return emu::gridIsCooperative(); }
    void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
        emu::gridBarrier(file, line);
    }
    unsigned long long size() const { return num_blocks() * detail::blockSize(); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long num_blocks() const { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    unsigned long long block_rank() const {
        return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    unsigned long long thread_rank() const {
        return block_rank() * detail::blockSize() + detail::rankInBlock();
    }
    dim3 group_dim() const { return gridDim; }
    dim3 dim_blocks() const { return gridDim; }
    dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }

  private:
    grid_group() = default;
    friend grid_group this_grid();
};

inline grid_group this_grid() {
    return {};
}

// The threads of a warp that are at the same call together, or a part of such a group.
class coalesced_group : public detail::LaneGroup {
  public:
    coalesced_group(unsigned mask, unsigned metaRank, unsigned metaSize)
        : LaneGroup(mask, metaRank, metaSize) {}
};

inline coalesced_group coalesced_threads(const char* file = __builtin_FILE(),
                                         int line = __builtin_LINE()) {
    return {emu::activeMask(file, line), 0, 1};
}

// A tile of Size consecutive threads, a power of two up to a warp.
template <unsigned Size, class Parent = void>
class thread_block_tile : public detail::LaneGroup {
    static_assert(
        Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
        "tiles of more than a warp are not supported on the cpu back end; sizes are powers of two");

  public:
    thread_block_tile(unsigned mask, unsigned metaRank, unsigned metaSize)
        : LaneGroup(mask, metaRank, metaSize) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned thread_rank() const { return detail::rankInBlock() % Size; }

    template <class T>
    T shfl_xor(T value, unsigned laneMask, const char* file = __builtin_FILE(),
               int line = __builtin_LINE()) const {
        const unsigned source = thread_rank() ^ laneMask;
        return take<emu::Shuffle::Xor>(value, source < Size ? source : thread_rank(),
                                       "group.shfl_xor()", file, line);
    }
    // (a tile without its type's parent)
    operator thread_block_tile<Size, void>() const { return {mask_, metaRank_, metaSize_}; }
};

// Any group, when its kind is not known at compile time.
class thread_group {
  public:
    thread_group(const thread_block&)
        : wholeBlock_(true), lanes_(0, 0, 1) {}  // NOLINT: implicit as in CUDA
    thread_group(const coalesced_group& group) : wholeBlock_(false), lanes_(group) {}
    template <unsigned Size, class Parent>
    thread_group(const thread_block_tile<Size, Parent>& tile)
        : wholeBlock_(false),
          lanes_(tile.laneMask(), tile.meta_group_rank(), tile.meta_group_size()) {}

    void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
        wholeBlock_ ? thread_block::sync(file, line) : lanes_.sync(file, line);
    }
    unsigned size() const { return wholeBlock_ ? detail::blockSize() : lanes_.size(); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const {
        return wholeBlock_ ? detail::rankInBlock() : lanes_.thread_rank();
    }

    // Not part of CUDA's interface.
    bool isWholeBlock() const { return wholeBlock_; }
    const coalesced_group& lanes() const { return lanes_; }

  private:
    bool wholeBlock_;
    coalesced_group lanes_;
};

namespace detail {

// The lanes of the tile of `size` threads that the calling thread is in.
inline unsigned tileMask(unsigned size) {
    const unsigned first = lane() / size * size;
    const unsigned lanes = size == 32 ? emu::kFullMask : ((1u << size) - 1) << first;
    return lanes & lanesOfWarp();
}

inline coalesced_group partOf(const LaneGroup& group, unsigned size) {
    const unsigned rank = group.thread_rank(), first = rank / size * size;
    unsigned mask = 0;
    for (unsigned r = first; r < first + size && r < group.size(); ++r)
        mask |= 1u << nthLane(group.laneMask(), r);
    return {mask, rank / size, (group.size() + size - 1) / size};
}

}  // namespace detail

template <unsigned Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
    return {detail::tileMask(Size), detail::rankInBlock() / Size,
            (detail::blockSize() + Size - 1) / Size};
}
template <unsigned Size, unsigned ParentSize, class Parent>
thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>&) {
    static_assert(Size <= ParentSize, "a tile is no larger than the group that it is a part of");
    return {detail::tileMask(Size), detail::rankInBlock() % ParentSize / Size, ParentSize / Size};
}
inline thread_group tiled_partition(const thread_block&, unsigned size) {
    if (size == 0 || size > 32 || (size & (size - 1)) != 0) emu::trap();
    return coalesced_group(detail::tileMask(size), detail::rankInBlock() / size,
                           (detail::blockSize() + size - 1) / size);
}
inline coalesced_group tiled_partition(const coalesced_group& group, unsigned size) {
    if (size == 0 || size > 32 || (size & (size - 1)) != 0) emu::trap();
    return detail::partOf(group, size);
}
inline thread_group tiled_partition(const thread_group& group, unsigned size) {
    if (group.isWholeBlock()) return tiled_partition(this_thread_block(), size);
    return tiled_partition(group.lanes(), size);
}

// The lanes of `group` that bring the same label (or truth value) as the caller.
template <class Group>
coalesced_group labeled_partition(const Group& group, int label,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
    const unsigned same = __match_any_sync(group.laneMask(), label, file, line);
    // Groups are numbered by their first lanes.
    const unsigned leaders = __ballot_sync(
        group.laneMask(), detail::lane() == static_cast<unsigned>(__builtin_ctz(same)), file, line);
    const unsigned rank =
        static_cast<unsigned>(__builtin_popcount(leaders & ((1u << __builtin_ctz(same)) - 1)));
    return {same, rank, static_cast<unsigned>(__builtin_popcount(leaders))};
}
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return labeled_partition(group, predicate ? 1 : 0, file, line);
}

template <class Group>
void sync(const Group& group, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    group.sync(file, line);
}

}  // namespace cooperative_groups
