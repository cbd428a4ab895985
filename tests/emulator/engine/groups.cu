// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <gmock/gmock.h>

#include "fixture.h"

namespace {

namespace cg = cooperative_groups;
using ::testing::HasSubstr;

class Groups : public EngineTest {};

__global__ void blockGroup(unsigned* out) {
    __shared__ unsigned ranks[60];
    const cg::thread_block block = cg::this_thread_block();
    ranks[block.thread_rank()] = block.thread_rank();
    block.sync();
    const unsigned at = block.group_index().x * block.size() + block.thread_rank();
    out[at] = ranks[block.num_threads() - 1 - block.thread_rank()] + 1000 * block.thread_index().z +
              10000 * block.dim_threads().y;
    cg::sync(block);
}

TEST_F(Groups, ThreadBlock) {
    Managed<unsigned> out(120);
    RUN(blockGroup<<<2, dim3(5, 4, 3)>>>(out.get()));
    for (unsigned i = 0; i < 120; ++i)
        ASSERT_EQ(59 - i % 60 + 1000 * (i % 60 / 20) + 40000, out[i]);
}

template <unsigned Size>
__global__ void tiles(int* out) {
    const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    int* mine = out + threadIdx.x * 8;
    mine[0] = tile.thread_rank();
    mine[1] = tile.meta_group_rank();
    mine[2] = tile.meta_group_size();
    mine[3] = tile.shfl((int)threadIdx.x, 0);
    mine[4] = tile.shfl_xor((int)threadIdx.x, 1);
    mine[5] = tile.ballot(tile.thread_rank() == 0);
    mine[6] = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>()) +
              10000 * cg::reduce(tile, (int)threadIdx.x, cg::greater<int>());
    mine[7] = cg::exclusive_scan(tile, 1) + 100 * cg::inclusive_scan(tile, 2);
    tile.sync();
}

template <unsigned Size>
void checkTiles() {
    Managed<int> out(64 * 8);
    RUN(tiles<Size><<<1, 64>>>(out.get()));
    const int size = Size;
    for (int t = 0; t < 64; ++t) {
        const int rank = t % size, first = t - rank;
        const int* mine = &out[t * 8];
        ASSERT_EQ(rank, mine[0]);
        ASSERT_EQ(t / size, mine[1]);
        ASSERT_EQ(64 / size, mine[2]);
        ASSERT_EQ(first, mine[3]);
        ASSERT_EQ(size == 1 ? t : (t ^ 1), mine[4]);
        ASSERT_EQ(1, mine[5]);
        ASSERT_EQ(size * first + size * (size - 1) / 2 + 10000 * (first + size - 1), mine[6]);
        ASSERT_EQ(rank + 100 * 2 * (rank + 1), mine[7]);
    }
}

TEST_F(Groups, TilesOfEverySize) {
    checkTiles<1>();
    checkTiles<2>();
    checkTiles<4>();
    checkTiles<8>();
    checkTiles<16>();
    checkTiles<32>();
}

struct Pair {
    double a;
    int b, c, d;
};

__global__ void nestedTiles(double* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto quad = cg::tiled_partition<4>(warp);
    const Pair pair = quad.shfl(Pair{0.5 * threadIdx.x, (int)threadIdx.x, 7, -1}, 2);
    out[threadIdx.x] = pair.a + 1000 * pair.b + pair.c + pair.d + 1e6 * quad.meta_group_rank();
}

TEST_F(Groups, TilesOfTilesAndLargeValues) {
    Managed<double> out(64);
    RUN(nestedTiles<<<1, 64>>>(out.get()));
    for (int t = 0; t < 64; ++t) {
        const int source = t / 4 * 4 + 2;
        ASSERT_EQ(0.5 * source + 1000 * source + 6 + 1e6 * (t % 32 / 4), out[t]);
    }
}

__device__ int sumThroughShared(cg::thread_group group, int* scratch, int value) {
    const int rank = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < i) value += scratch[rank + i];
        group.sync();
    }
    return value;
}

__global__ void anyGroup(int* out) {
    __shared__ int scratch[128];
    const auto block = cg::this_thread_block();
    const int whole = sumThroughShared(block, scratch, threadIdx.x);
    const auto tile = cg::tiled_partition(block, 16);
    const int part = sumThroughShared(tile, scratch + threadIdx.x / 16 * 16, 1);
    if (threadIdx.x == 0) out[0] = whole;
    if (tile.thread_rank() == 0) out[1 + threadIdx.x / 16] = part;
}

TEST_F(Groups, GroupsOfAnyKind) {
    Managed<int> out(9);
    RUN(anyGroup<<<1, 128>>>(out.get()));
    ASSERT_EQ(127 * 128 / 2, out[0]);
    for (int i = 1; i < 9; ++i) ASSERT_EQ(16, out[i]);
}

__global__ void reverseStaged(const int* in, int* out) {
    __shared__ int stage[64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, stage, in, sizeof(stage));
    cg::wait(block);
    out[block.thread_rank()] = stage[63 - block.thread_rank()];
}

TEST_F(Groups, CopyTogether) {
    Managed<int> in(64), out(64);
    for (int i = 0; i < 64; ++i) in[i] = i;
    RUN(reverseStaged<<<1, 64>>>(in.get(), out.get()));
    for (int i = 0; i < 64; ++i) ASSERT_EQ(63 - i, out[i]);
}

__global__ void partitions(int* out) {
    if (threadIdx.x % 3 != 0) {
        const cg::coalesced_group active = cg::coalesced_threads();
        const auto odd = cg::binary_partition(active, threadIdx.x % 2 == 1);
        out[threadIdx.x] = odd.size();
        const auto byRest = cg::labeled_partition(active, threadIdx.x % 3);
        out[64 + threadIdx.x] = byRest.size() * 10 + byRest.meta_group_size();
    }
}

TEST_F(Groups, PartitionsOfThreadsOfABranch) {
    Managed<int> out(128);
    RUN(partitions<<<1, 64>>>(out.get()));
    for (int t = 0; t < 64; ++t) {
        if (t % 3 == 0) continue;
        int sameParity = 0, sameRest = 0;
        for (int u = t / 32 * 32; u < t / 32 * 32 + 32; ++u) {
            sameParity += u % 3 != 0 && u % 2 == t % 2;
            sameRest += u % 3 == t % 3;
        }
        ASSERT_EQ(sameParity, out[t]);
        ASSERT_EQ(sameRest * 10 + 2, out[64 + t]);
    }
}

__global__ void gridSync(int* data, int rounds) {
    const cg::grid_group grid = cg::this_grid();
    const int n = (int)grid.size(), i = (int)grid.thread_rank();
    for (int r = 0; r < rounds; ++r) {
        const int next = data[(r % 2) * n + (i + 1) % n];
        data[(1 - r % 2) * n + i] = next + 1;
        grid.sync();
    }
}

TEST_F(Groups, GridSync) {
    const int blocks = 6, threads = 64, n = blocks * threads;
    int rounds = 9;
    Managed<int> data(2 * n);
    for (int i = 0; i < n; ++i) data[i] = i;
    int* pointer = data.get();
    void* args[] = {&pointer, &rounds};
    ASSERT_EQ(cudaSuccess, cudaLaunchCooperativeKernel((void*)gridSync, blocks, threads, args));
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) ASSERT_EQ((i + rounds) % n + rounds, data[n + i]);
}

__global__ void countRanks(int* ofThreads, int* ofBlocks) {
    const cg::grid_group grid = cg::this_grid();
    atomicAdd(&ofThreads[grid.thread_rank()], 1);
    atomicAdd(&ofBlocks[grid.block_rank()], 1);
}

TEST_F(Groups, RanksInAGridOfThreeDimensions) {
    Managed<int> ofThreads(2 * 24 * 12), ofBlocks(2 * 24);
    for (int i = 0; i < 2 * 24 * 12; ++i) ofThreads[i] = 0;
    for (int i = 0; i < 2 * 24; ++i) ofBlocks[i] = 0;
    RUN(countRanks<<<dim3(2, 3, 4), dim3(3, 2, 2)>>>(ofThreads.get(), ofBlocks.get()));
    for (int i = 0; i < 2 * 24 * 12; ++i) ASSERT_EQ(i < 24 * 12 ? 1 : 0, ofThreads[i]) << i;
    for (int i = 0; i < 2 * 24; ++i) ASSERT_EQ(i < 24 ? 12 : 0, ofBlocks[i]) << i;
}

TEST_F(Groups, GridSyncNeedsACooperativeLaunch) {
    Managed<int> data(256);
    const std::string text =
        failure(cudaErrorLaunchFailure, [&] { gridSync<<<2, 64>>>(data.get(), 1); });
    EXPECT_THAT(text, HasSubstr("cudaLaunchCooperativeKernel"));
}

TEST_F(Groups, GridsThatDoNotFitAreRefused) {
    Managed<int> data(1);
    int* pointer = data.get();
    int rounds = 0;
    void* args[] = {&pointer, &rounds};
    EXPECT_EQ(cudaErrorCooperativeLaunchTooLarge,
              cudaLaunchCooperativeKernel((void*)gridSync, 1 << 20, 64, args));
    EXPECT_EQ(cudaErrorCooperativeLaunchTooLarge, cudaGetLastError());
}

__global__ void someBlocksLeave(int* out) {
    if (blockIdx.x == 1) return;
    cg::this_grid().sync();
    out[blockIdx.x] = 1;
}

TEST_F(Groups, GridSyncThatABlockNeverReachesIsReported) {
    Managed<int> out(4);
    int* pointer = out.get();
    void* args[] = {&pointer};
    const std::string text = failure(cudaErrorLaunchFailure, [&] {
        cudaLaunchCooperativeKernel((void*)someBlocksLeave, 4, 32, args);
    });
    EXPECT_THAT(text, HasSubstr("another block of the grid ended without reaching it"));
}

}  // namespace
