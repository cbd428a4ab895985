// Dynamic parallelism.
#include <gmock/gmock.h>

#include "fixture.h"

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

__global__ void recurse(int* counts, int size, int depth) {
    atomicAdd(&counts[depth], 1);
    if (size > 1 && threadIdx.x == 0) recurse<<<1, size / 2>>>(counts, size / 2, depth + 1);
}

TEST_F(Nested, Recursion) {
    Managed<int> counts(8);
    recurse<<<3, 64>>>(counts.get(), 64, 0);
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_THAT(counts.values(), ElementsAre(192, 96, 48, 24, 12, 6, 3, 0));
}

__global__ void child(const int* in, int* out, int n) {
    if ((int)threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x] * 2;
}

__global__ void parent(int* in, int* out) {
    in[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) child<<<1, 64>>>(in, out, 64);
}

TEST_F(Nested, ChildrenSeeTheParentsWrites) {
    Managed<int> in(64), out(64);
    parent<<<1, 64>>>(in.get(), out.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) ASSERT_EQ(2 * i, out[i]);
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
    orderOfLaunches<<<1, 1>>>(log.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_THAT(entries(log[0]), ElementsAre(1, 10, 20, 21, 22, 30, 90, 70, 71, 72, 91));
}

__global__ void tailChain(int* count, int left) {
    ++*count;
    if (left > 1) tailChain<<<1, 1, 0, cudaStreamTailLaunch>>>(count, left - 1);
}

TEST_F(Nested, TailChainsMayBeLong) {
    Managed<int> count(1);
    tailChain<<<1, 1>>>(count.get(), 20000);
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(20000, count[0]);
}

__global__ void badChild(cudaError_t* errors) {
    child<<<1, 2000>>>(nullptr, nullptr, 0);
    errors[0] = cudaGetLastError();
    errors[1] = cudaGetLastError();
    child<<<1, 32>>>(nullptr, nullptr, 0);
    errors[2] = cudaGetLastError();
}

TEST_F(Nested, ErrorsBelongToTheLaunchingThread) {
    Managed<cudaError_t> errors(3);
    badChild<<<1, 1>>>(errors.get());
    EXPECT_EQ(cudaSuccess, cudaGetLastError());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_THAT(errors.values(),
                ElementsAre(cudaErrorInvalidConfiguration, cudaSuccess, cudaSuccess));
}

__global__ void descend(int* deepest, int depth) {
    *deepest = depth;
    descend<<<1, 1>>>(deepest, depth + 1);
}

TEST_F(Nested, DepthIsLimited) {
    Managed<int> deepest(1);
    descend<<<1, 1>>>(deepest.get(), 0);
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(24, deepest[0]);
}

__global__ void copyAfterChild(int* in, int* out, int* copy) {
    in[0] = 21;
    child<<<1, 1>>>(in, out, 1);
    cudaMemcpyAsync(copy, out, sizeof(int), cudaMemcpyDeviceToDevice, 0);
}

TEST_F(Nested, CopiesKeepTheirPlaceInTheStream) {
    Managed<int> in(1), out(1), copy(1);
    copyAfterChild<<<1, 1>>>(in.get(), out.get(), copy.get());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(42, copy[0]);
}

TEST_F(Nested, NotFromACooperativeLaunch) {
    Managed<int> deepest(1);
    int* pointer = deepest.get();
    int depth = 0;
    void* arguments[] = {&pointer, &depth};
    const std::string text = failure(cudaErrorNotSupported, [&] {
        cudaLaunchCooperativeKernel((void*)descend, 1, 1, arguments);
    });
    EXPECT_THAT(text, ::testing::HasSubstr("cannot launch kernels"));
}
