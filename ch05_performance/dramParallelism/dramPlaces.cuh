#pragma once
// Says for dramParallelism which sectors of a large array a kernel reads, and in which order. A
// place is the number of a sector. Each struct computes it from the number of the access, so no
// array of indices has to be loaded.

#include <cstddef>

#include "scattered.cuh"

inline constexpr unsigned kSectorBytes = 32;

// Every `stride`-th of 2^lapBits sectors, for an odd stride. Behind the end of the array it goes on
// at the beginning. The stride and 2^lapBits have no common factor, so 2^lapBits accesses read no
// sector twice.
struct OddStride {
    std::size_t stride;
    unsigned lapBits;

    __host__ __device__ std::size_t operator()(unsigned access) const {
        return access * stride & ((std::size_t{1} << lapBits) - 1);
    }
};

// The same with a stride that is a power of two. Each lap through the array would come to the same
// sectors again. So each lap begins kLapShift sectors further on, in another row of a bank, and
// stride / kLapShift laps read no sector twice.
struct PowerOfTwoStride {
    static constexpr std::size_t kLapShift = 64;  // sectors, 2 KiB
    std::size_t stride;
    unsigned lapBits;

    __host__ __device__ std::size_t operator()(unsigned access) const {
        const std::size_t way = access * stride;
        return (way + kLapShift * (way >> lapBits)) & ((std::size_t{1} << lapBits) - 1);
    }
};

// Pieces of kSectors neighbouring sectors, each at a random place of its own. `access` counts
// sectors.
template <unsigned kSectors>
struct RandomPieces {
    Scattered pieceAt;
    explicit RandomPieces(std::size_t sectors) : pieceAt(sectors / kSectors) {}

    __host__ __device__ std::size_t operator()(unsigned access) const {
        return std::size_t{pieceAt(access / kSectors)} * kSectors + access % kSectors;
    }
};

// What the lanes of one warp read in a round: random sectors of `pages` random pages. Neighbouring
// lanes read from different pages. Each round has new pages until all pages have been used. Then
// they come again, with other sectors if a page has more sectors than the warp has lanes.
struct InPages {
    unsigned pages;        // in a round, at most one for each lane
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
