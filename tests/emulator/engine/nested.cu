// Dynamic parallelism.
#include <gmock/gmock.h>

#include "fixture.h"

namespace {

using ::testing::ElementsAre;

class Nested : public EngineTest {};

struct Log {
    int count;
    int entries[64];
};

__device__ void append(Log* log, int entry) {
    log->entries[atomicAdd(&log->count, 1)] = entry;
}

std::vector<int> entries(const Log& log) {
    return {log.entries, log.entries + log.count};
}

__global__ void note(Log* log, int entry) {
    append(log, entry);
}

__global__ void noteAndLaunch(Log* log, int entry) {
    append(log, entry);
    note<<<1, 1>>>(log, entry + 1);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, entry + 2);
}

__global__ void orderOfLaunches(Log* log) {
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 90);
    noteAndLaunch<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 70);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 91);
    note<<<1, 1>>>(log, 10);
    noteAndLaunch<<<1, 1>>>(log, 20);
    note<<<1, 1>>>(log, 30);
    append(log, 1);
}

TEST_F(Nested, TailLaunchesComeLast) {
    Managed<Log> log(1);
    RUN(orderOfLaunches<<<1, 1>>>(log.get()));
    EXPECT_THAT(entries(log[0]), ElementsAre(1, 10, 20, 21, 22, 30, 90, 70, 71, 72, 91));
}

__global__ void tailChain(int* count, int left) {
    ++*count;
    if (left > 1) tailChain<<<1, 1, 0, cudaStreamTailLaunch>>>(count, left - 1);
}

TEST_F(Nested, TailChainsMayBeLong) {
    Managed<int> count(1);
    RUN(tailChain<<<1, 1>>>(count.get(), 20000));
    EXPECT_EQ(20000, count[0]);
}

__global__ void badChild(cudaError_t* errors, int* count) {
    tailChain<<<1, 2000>>>(count, 1);
    errors[0] = cudaGetLastError();
    errors[1] = cudaGetLastError();
    tailChain<<<1, 1>>>(count, 1);
    errors[2] = cudaGetLastError();
}

TEST_F(Nested, ErrorsBelongToTheLaunchingThread) {
    Managed<cudaError_t> errors(3);
    Managed<int> count(1);
    badChild<<<1, 1>>>(errors.get(), count.get());
    EXPECT_EQ(cudaSuccess, cudaGetLastError());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_THAT(errors.values(),
                ElementsAre(cudaErrorInvalidConfiguration, cudaSuccess, cudaSuccess));
    EXPECT_EQ(1, count[0]);
}

// A grid is pending until what it launched is complete: a chain is as long as the limit allows.
// (It ends without a limit, too.)
__global__ void descend(int* deepest, int depth, int most, cudaError_t* error) {
    *deepest = depth;
    if (depth == most) return;
    descend<<<1, 1>>>(deepest, depth + 1, most, error);
    if (cudaPeekAtLastError() != cudaSuccess) *error = cudaGetLastError();
}

void expectDepth(int depth) {
    Managed<int> deepest(1);
    Managed<cudaError_t> error(1);
    RUN(descend<<<1, 1>>>(deepest.get(), 0, depth + 10, error.get()));
    EXPECT_EQ(depth, deepest[0]);
    EXPECT_EQ(cudaErrorLaunchPendingCountExceeded, error[0]);
}

TEST_F(Nested, DepthIsLimitedByPendingLaunches) {
    expectDepth(2048);
    ASSERT_EQ(cudaSuccess, cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100000));
    expectDepth(100000);
    ASSERT_EQ(cudaSuccess, cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 3));
    expectDepth(3);
}

__global__ void launchThenFail(int* ran) {
    for (int i = 0; i < 2048; ++i) tailChain<<<1, 1>>>(ran, 1);
    __trap();
}

TEST_F(Nested, WhatAFailedKernelLaunchedIsNotPending) {
    Managed<int> none(1);
    failure(cudaErrorLaunchFailure, [&] { launchThenFail<<<1, 1>>>(none.get()); });
    ASSERT_EQ(cudaSuccess, cudaDeviceReset());
    expectDepth(2048);
}

__global__ void twice(const int* in, int* out) {
    *out = *in * 2;
}

__global__ void copyAfterChild(int* in, int* out, int* copy) {
    in[0] = 21;
    twice<<<1, 1>>>(in, out);
    cudaMemcpyAsync(copy, out, sizeof(int), cudaMemcpyDeviceToDevice, 0);
}

TEST_F(Nested, CopiesKeepTheirPlaceInTheStream) {
    Managed<int> in(1), out(1), copy(1);
    RUN(copyAfterChild<<<1, 1>>>(in.get(), out.get(), copy.get()));
    EXPECT_EQ(42, copy[0]);
}

__global__ void copyAfterTail(int* in, int* out, int* copies) {
    twice<<<1, 1, 0, cudaStreamTailLaunch>>>(in, out);
    cudaMemcpyAsync(copies, out, sizeof(int), cudaMemcpyDeviceToDevice, cudaStreamTailLaunch);
    cudaMemcpyAsync(copies + 1, out, sizeof(int), cudaMemcpyDeviceToDevice, 0);
    twice<<<1, 1, 0, cudaStreamTailLaunch>>>(copies, out);
}

__global__ void fillBeforeChild(int* in, int* out) {
    cudaMemsetAsync(out, 0, sizeof(int), cudaStreamTailLaunch);
    twice<<<1, 1>>>(in, out);
}

// Both as an H200 has it.
TEST_F(Nested, CopiesAndFillsKeepTheirPlaceAmongTailLaunches) {
    Managed<int> in(1), out(1), copies(2);
    in[0] = 21;
    RUN(copyAfterTail<<<1, 1>>>(in.get(), out.get(), copies.get()));
    EXPECT_THAT(copies.values(), ElementsAre(42, 0));
    EXPECT_EQ(84, out[0]);
    RUN(fillBeforeChild<<<1, 1>>>(in.get(), out.get()));
    EXPECT_EQ(0, out[0]);
}

TEST_F(Nested, NotFromACooperativeLaunch) {
    Managed<int> count(1);
    int* pointer = count.get();
    int left = 2;
    void* arguments[] = {&pointer, &left};
    const std::string text = failure(cudaErrorNotSupported, [&] {
        cudaLaunchCooperativeKernel((void*)tailChain, 1, 1, arguments);
    });
    EXPECT_THAT(text, ::testing::HasSubstr("cannot launch kernels"));
}

}  // namespace
