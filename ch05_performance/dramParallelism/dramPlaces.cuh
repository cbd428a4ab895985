#pragma once
// Which sectors of a large array are read, in which order: dramParallelism. A place is the number
// of a sector. All three are computed from the number of the access, which costs no memory.

#include <cstddef>

#include "scattered.cuh"

inline constexpr unsigned kSectorBytes = 32;

// Every `stride`-th of 2^lapBits sectors; a stride that is odd. At the end of the array it goes on
// from its beginning, and comes to other sectors by itself, since it shares no factor with
// 2^lapBits: no sector is read twice in 2^lapBits accesses.
struct OddStride {
    std::size_t stride;
    unsigned lapBits;

    __host__ __device__ std::size_t operator()(unsigned access) const {
        return access * stride & ((std::size_t{1} << lapBits) - 1);
    }
};

// The same with a stride that is a power of two. It would come to the same sectors again, so each
// lap begins kLapShift farther on, which is another row of the memory: no sector is read twice in
// stride / kLapShift laps.
struct PowerOfTwoStride {
    static constexpr std::size_t kLapShift = 64;  // sectors, 2 KiB
    std::size_t stride;
    unsigned lapBits;

    __host__ __device__ std::size_t operator()(unsigned access) const {
        const std::size_t way = access * stride;
        return (way + kLapShift * (way >> lapBits)) & ((std::size_t{1} << lapBits) - 1);
    }
};

// Pieces of kSectors sectors in a row, each at a random place of its own; `access` counts sectors.
template <unsigned kSectors>
struct RandomPieces {
    Scattered pieceAt;
    explicit RandomPieces(std::size_t sectors) : pieceAt(sectors / kSectors) {}

    __host__ __device__ std::size_t operator()(unsigned access) const {
        return std::size_t{pieceAt(access / kSectors)} * kSectors + access % kSectors;
    }
};

// What the lanes of one warp read in a round: random sectors of `pages` random pages, which
// neighbouring lanes take in turn. Each round has other pages, until all have been used; then they
// come again, with other sectors if a page has more than the warp has lanes.
struct InPages {
    unsigned pages;        // of a round, at most a warp's lanes
    unsigned pageSectors;  // a power of two, at least as many as a warp has lanes
    Scattered pageAt, sectorAt;
    InPages(unsigned pages, unsigned pageSectors, std::size_t sectors)
        : pages(pages),
          pageSectors(pageSectors),
          pageAt(sectors / pageSectors),
          sectorAt(pageSectors) {}

    __host__ __device__ std::size_t operator()(unsigned round, unsigned lane) const {
        const std::size_t page = pageAt(round * pages + lane % pages);
        return page * pageSectors + sectorAt(round * 32 + lane);
    }
};
