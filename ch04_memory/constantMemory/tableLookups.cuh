#pragma once
// Lookups in a table, where each word says where the next lookup is. The rows measure how long a
// warp waits for one lookup (latency), and how many cycles of the SM a lookup takes when many warps
// look up at the same time (pace). The lanes of a warp read one word or several.

#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kWarp = 32;
constexpr unsigned kMostWarps = 32;  // of a block
constexpr unsigned kStep = 32;       // words from one lookup to the next: a line of 128 bytes
constexpr unsigned kSmallTable = 1 << 10, kLargestTable = 32 << 10;  // bytes

// Each word says where the word kStep further on is. The last words lead back to the first ones.
inline std::vector<unsigned> tableOf(unsigned bytes) {
    std::vector<unsigned> next(bytes / sizeof(unsigned));
    for (unsigned place = 0; place < next.size(); ++place)
        next[place] = (place + kStep) % static_cast<unsigned>(next.size());
    return next;
}

// CPU reference: where each of `threads` threads is after `steps` lookups. (The kernels' first
// round does not count. It leads back to where it began.)
inline std::vector<unsigned> placesAfter(const std::vector<unsigned>& table, unsigned words,
                                         unsigned steps, unsigned threads) {
    std::vector<unsigned> places(threads);
    for (unsigned t = 0; t < threads; ++t) {
        places[t] = t < words ? t : places[t % kWarp % words];
        for (unsigned s = 0; t < words && s < steps; ++s) places[t] = table[places[t]];
    }
    return places;
}

__constant__ unsigned constantTable[kLargestTable / sizeof(unsigned)];

// The lanes of a warp begin at `words` neighbouring words, and stay side by side. A first round
// fills the cache. The clock of the SM times the rest.
template <typename Read>
__device__ void follow(Read read, unsigned words, unsigned tableWords, unsigned steps,
                       unsigned* ends, long long* cycles) {
    unsigned place = threadIdx.x % kWarp % words;
    for (unsigned s = 0; s < tableWords; s += kStep) place = read(place);

    __syncthreads();
    const long long begin = clock64();
#pragma unroll 16
    for (unsigned s = 0; s < steps; ++s) place = read(place);
    ends[threadIdx.x] = place;
    __syncthreads();
    if (threadIdx.x == 0) *cycles = clock64() - begin;
}

// The constant cache hands out one word at a time, so two different words take two passes.
__global__ void lookupConstant(unsigned words, unsigned tableWords, unsigned steps, unsigned* ends,
                               long long* cycles) {
    follow([](unsigned place) { return constantTable[place]; }, words, tableWords, steps, ends,
           cycles);
}

// Shared memory serves its 32 banks at once, so neighbouring words take one wavefront.
__global__ void lookupShared(const unsigned* table, unsigned words, unsigned steps, unsigned* ends,
                             long long* cycles) {
    constexpr unsigned kTableWords = kSmallTable / sizeof(unsigned);
    __shared__ unsigned sharedTable[kTableWords];
    for (unsigned i = threadIdx.x; i < kTableWords; i += blockDim.x) sharedTable[i] = table[i];
    __syncthreads();
    follow([&](unsigned place) { return sharedTable[place]; }, words, kTableWords, steps, ends,
           cycles);
}

// L1 serves all words of a line at once.
__global__ void lookupReadOnly(const unsigned* __restrict__ table, unsigned words, unsigned steps,
                               unsigned* ends, long long* cycles) {
    follow([&](unsigned place) { return table[place]; }, words, kSmallTable / sizeof(unsigned),
           steps, ends, cycles);
}

// Adds the rows of an exercise with the columns words, table_bytes, warps and cycles. Each row is
// one block of one warp or of 32 warps, with one number of words. The speedup is over the first row
// with as many warps.
class TableLookups {
  public:
    TableLookups(lab::Exercise& exercise, unsigned steps) : exercise_(exercise), steps_(steps) {}

    void run() {
        const auto constant = [&](unsigned words, unsigned tableWords, unsigned threads) {
            lookupConstant<<<1, threads>>>(words, tableWords, steps_, ends_.get(), cycles_.get());
        };
        forWords("lookupConstant", constant);
        // These rows show which tables fit into the cache.
        if (!exercise_.profile())
            rows("lookupConstant", 1, {1}, {2 << 10, 4 << 10, 8 << 10, 16 << 10, kLargestTable},
                 constant);
        forWords("lookupShared", [&](unsigned words, unsigned, unsigned threads) {
            lookupShared<<<1, threads>>>(table_.get(), words, steps_, ends_.get(), cycles_.get());
        });
        forWords("lookupReadOnly", [&](unsigned words, unsigned, unsigned threads) {
            lookupReadOnly<<<1, threads>>>(table_.get(), words, steps_, ends_.get(), cycles_.get());
        });
    }

  private:
    template <typename Launch>
    void forWords(const char* name, const Launch& launch) {
        if (exercise_.profile()) {  // only the least and the most words
            rows(name, kMostWarps, {1, 32}, {kSmallTable}, launch);
        } else {
            for (const unsigned warps : {1u, kMostWarps})
                rows(name, warps, {1, 2, 4, 8, 16, 32}, {kSmallTable}, launch);
        }
    }

    template <typename Launch>
    void rows(const char* name, unsigned warps, const std::vector<unsigned>& words,
              const std::vector<unsigned>& tables, const Launch& launch) {
        lab::Ladder ladder(exercise_, ends_);
        const unsigned threads = warps * kWarp;
        const std::string parameters = exercise_.parameters() + " part=" + name;
        for (const unsigned bytes : tables) {
            const std::vector<unsigned> next = tableOf(bytes);
            table_.copyFrom(next);
            CUDA_CHECK(cudaMemcpyToSymbol(constantTable, next.data(), bytes));
            for (const unsigned different : words) {
                const auto check = [&]() -> lab::Finding {
                    const lab::Cell each = {1.0 * cycles_.toHost()[0] / steps_ / warps, 2};
                    return {lab::mismatch(ends_.toHost(threads),
                                          placesAfter(next, different, steps_, threads)),
                            {different, bytes, warps, exercise_.timesCount() ? each : lab::Cell()}};
                };
                ladder.rung({name, parameters}, 1, threads, lab::kNoRate, check,
                            [&] { launch(different, next.size(), threads); });
            }
        }
    }

    lab::Exercise& exercise_;
    unsigned steps_;
    lab::DeviceBuffer<unsigned> table_{kLargestTable / sizeof(unsigned)};
    lab::DeviceBuffer<unsigned> ends_{kMostWarps * kWarp};
    lab::DeviceBuffer<long long> cycles_{1};
};
