#pragma once
// Functions of the host in a stream: in order, and what they may not do: streamOrder.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "../events.cuh"
#include "../forkJoin.cuh"
#include "lab.cuh"
#include "orderRows.cuh"

// The next place of a log gets `entry`.
__global__ void logEntry(unsigned entry, unsigned* log, unsigned* entries) {
    log[(*entries)++] = entry;
}

struct Log {
    unsigned *entries, *count;
    unsigned entry;
};

inline void CUDART_CB logOnHost(void* data) {
    const Log& log = *static_cast<Log*>(data);
    log.entries[(*log.count)++] = log.entry;
}

struct Tried {
    cudaStream_t stream;
    cudaEvent_t event;
    std::vector<cudaError_t> answers;
};

// What no function in a stream may do. (None of these would do harm.)
inline void CUDART_CB callCuda(void* data) {
    Tried& tried = *static_cast<Tried*>(data);
    int device;
    std::size_t free, total;
    tried.answers = {cudaGetDevice(&device), cudaMemGetInfo(&free, &total),
                     cudaStreamQuery(tried.stream), cudaEventRecord(tried.event, tried.stream)};
}

inline void hostFunctions(lab::Exercise& exercise) {
    const ForkJoin streams(1);
    if (exercise.selected("hostFunctions")) {
        constexpr unsigned kPairs = 4;
        lab::PinnedBuffer<unsigned> entries(2 * kPairs), count(1);
        std::fill(entries.begin(), entries.end(), 2 * kPairs);
        count[0] = 0;
        std::vector<Log> logs;
        for (unsigned k = 0; k < kPairs; ++k)
            logs.push_back({entries.get(), count.get(), 2 * k + 1});
        for (Log& log : logs) {
            logEntry<<<1, 1, 0, streams[0]>>>(log.entry - 1, log.entries, log.count);
            CUDA_CHECK_LAUNCH();
            CUDA_CHECK(cudaLaunchHostFunc(streams[0], logOnHost, &log));
        }
        CUDA_CHECK(cudaStreamSynchronize(streams[0]));
        std::vector<unsigned> expected(2 * kPairs);
        std::iota(expected.begin(), expected.end(), 0u);
        const std::vector<unsigned> found(entries.begin(), entries.end());
        const unsigned inOrder = static_cast<unsigned>(
            std::mismatch(found.begin(), found.end(), expected.begin()).first - found.begin());
        printRow(exercise, "hostFunctions",
                 {lab::mismatch(found, expected), Cells{lab::formatted("%u in order", 2 * kPairs),
                                                        lab::formatted("%u in order", inOrder)}});
    }
    if (exercise.selected("hostFunctionCallsCuda")) {
        const Events events(1);
        Tried tried{streams[0], events[0], {}};
        CUDA_CHECK(cudaLaunchHostFunc(streams[0], callCuda, &tried));
        CUDA_CHECK(cudaStreamSynchronize(streams[0]));
        const auto refused =
            std::count(tried.answers.begin(), tried.answers.end(), cudaErrorNotPermitted);
        printRow(exercise, "hostFunctionCallsCuda",
                 {tried.answers.empty() ? "it was not called" : "",
                  Cells{"nothing",
                        lab::formatted("%td of %zu refused", refused, tried.answers.size())}});
    }
}
