// Cooperative groups: functions that take any group, tiles, coalesced threads, the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <vector>

#include "expect.cuh"

using namespace cooperative_groups;
namespace cg = cooperative_groups;

__device__ int sumThrough(thread_group group, int* memory, int value) {
    const int rank = group.thread_rank();
    for (int k = group.size() / 2; k > 0; k /= 2) {
        memory[rank] = value;
        group.sync();
        if (rank < k) value += memory[rank + k];
        group.sync();
    }
    return value;
}
template <int Size>
__device__ int sumOfTile(thread_block_tile<Size> tile, int value) {
    for (int k = tile.size() / 2; k > 0; k /= 2) value += tile.shfl_down(value, k);
    return value;
}
__global__ void sums(int* out) {
    extern __shared__ int memory[];
    const thread_block block = this_thread_block();
    const int rank = block.thread_rank();
    const int ofBlock = sumThrough(block, memory, rank);
    block.sync();
    const auto tile = tiled_partition<16>(block);
    const int ofTile = sumThrough(tile, memory + rank / 16 * 16, rank);
    const auto warp = tiled_partition<32>(block);
    const int ofWarp = sumOfTile<32>(warp, rank);
    const thread_group four = tiled_partition(tiled_partition(block, 32), 4);
    if (rank == 0) out[0] = ofBlock;
    if (tile.thread_rank() == 0) out[1 + tile.meta_group_rank()] = ofTile;
    if (warp.thread_rank() == 0) out[5 + warp.meta_group_rank()] = ofWarp;
    if (four.thread_rank() == 0) atomicAdd(&out[7], four.size());
}

__global__ void collectives(int* out) {
    const thread_block block = this_thread_block();
    const auto warp = tiled_partition<32>(block);
    const auto eight = tiled_partition<8>(warp);
    const auto four = tiled_partition<4>(block);
    const int rank = block.thread_rank();
    const int parts[] = {
        cg::reduce(warp, rank, cg::plus<int>()),
        cg::reduce(eight, rank, cg::greater<int>()),
        cg::inclusive_scan(warp, 1),
        cg::exclusive_scan(warp, 2, cg::plus<int>()),
        static_cast<int>(four.ballot(rank % 2)),
        four.shfl_xor(rank, 1),
        static_cast<int>(cg::binary_partition(warp, rank & 1).size()),
        static_cast<int>(cg::labeled_partition(warp, rank / 10).num_threads()),
        static_cast<int>(warp.meta_group_rank() * 100 + eight.meta_group_rank()),
        four.any(rank == 0) + 2 * four.all(1),
    };
    for (int i = 0; i < 10; ++i) out[rank * 10 + i] = parts[i];
}

__device__ int append(int* counter) {
    const coalesced_group group = coalesced_threads();
    int start = 0;
    if (group.thread_rank() == 0) start = atomicAdd(counter, group.size());
    return group.shfl(start, 0) + group.thread_rank();
}
__global__ void odds(int* out, int* counter, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (i % 2) out[append(counter)] = i;
    }
}

__global__ void reverseStaged(const int* in, int* out) {
    __shared__ int stage[64];
    const thread_block block = this_thread_block();
    cg::memcpy_async(block, stage, in, sizeof(stage));
    cg::wait(block);
    out[block.thread_rank()] = stage[63 - block.thread_rank()];
}

__global__ void smooth(float* a, float* b, int n, int steps) {
    const grid_group grid = this_grid();
    for (int step = 0; step < steps; ++step) {
        for (size_t i = grid.thread_rank(); i < static_cast<size_t>(n); i += grid.size()) {
            b[i] = 0.5f * (a[(i + n - 1) % n] + a[(i + 1) % n]);
        }
        grid.sync();
        float* const t = a;
        a = b;
        b = t;
    }
}

int main() {
    int* out;
    CHECK(cudaMallocManaged(&out, 1001 * sizeof(int)));
    std::fill_n(out, 1001, 0);
    sums<<<1, 64, 64 * sizeof(int)>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 2016 && out[1] == 120 && out[4] == 120 + 48 * 16 && out[5] == 496 &&
           out[6] == 496 + 1024);
    EXPECT(out[7] == 64);

    collectives<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 64; ++t) {
        const int warp = t / 32;
        int sum = 0, label = 0;
        for (int other = warp * 32; other < warp * 32 + 32; ++other)
            sum += other, label += other / 10 == t / 10;
        const int expected[] = {
            sum,   t / 8 * 8 + 7,           t % 32 + 1,      t % 32 * 2, 0xa, t ^ 1, 16,
            label, warp * 100 + t % 32 / 8, (t / 4 == 0) + 2};
        for (int i = 0; i < 10; ++i) EXPECT(out[t * 10 + i] == expected[i]);
    }

    out[1000] = 0;
    odds<<<4, 64>>>(out, out + 1000, 1000);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[1000] == 500);
    std::sort(out, out + 500);
    for (int i = 0; i < 500; ++i) EXPECT(out[i] == 2 * i + 1);
    reverseStaged<<<1, 64>>>(out, out + 500);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) EXPECT(out[500 + i] == out[63 - i]);

    int n = 5000, steps = 10, perSm, supported;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, smooth, 128, 0));
    EXPECT(supported && perSm > 0);
    float *a, *b;
    CHECK(cudaMallocManaged(&a, n * sizeof(float)));
    CHECK(cudaMallocManaged(&b, n * sizeof(float)));
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) a[i] = x[i] = i % 13;
    for (int step = 0; step < steps; ++step) {
        for (int i = 0; i < n; ++i) y[i] = 0.5f * (x[(i + n - 1) % n] + x[(i + 1) % n]);
        std::swap(x, y);
    }
    void* arguments[] = {&a, &b, &n, &steps};
    CHECK(cudaLaunchCooperativeKernel((void*)smooth, dim3(6), dim3(128), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(a[i] == x[i]);
    EXPECT(cudaLaunchCooperativeKernel((void*)smooth, dim3(1000000), dim3(128), arguments) ==
           cudaErrorCooperativeLaunchTooLarge);
    return 0;
}
