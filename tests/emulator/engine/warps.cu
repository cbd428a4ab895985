// Warp-level functions: full, partial and divergent warps.
#include <cooperative_groups.h>
#include <gmock/gmock.h>

#include <string>

#include "fixture.h"

namespace {

namespace cg = cooperative_groups;

using ::testing::AllOf;
using ::testing::HasSubstr;

class Warps : public EngineTest {};

constexpr unsigned kFull = 0xffffffffu;

__global__ void shuffleTypes(double* d, long long* l, float* f, unsigned* u) {
    const int lane = threadIdx.x;
    d[lane] = __shfl_xor_sync(kFull, 1.5 * lane, 1);
    l[lane] = __shfl_down_sync(kFull, (long long)lane << 40, 1);
    f[lane] = __shfl_sync(kFull, 0.25f * lane, -1);
    u[lane] = __shfl_up_sync(kFull, 0x80000000u + lane, 1);
}

TEST_F(Warps, ShufflesTakeAllTypes) {
    Managed<double> d(32);
    Managed<long long> l(32);
    Managed<float> f(32);
    Managed<unsigned> u(32);
    RUN(shuffleTypes<<<1, 32>>>(d.get(), l.get(), f.get(), u.get()));
    for (int lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(1.5 * (lane ^ 1), d[lane]);
        ASSERT_EQ((long long)(lane < 31 ? lane + 1 : 31) << 40, l[lane]);
        ASSERT_EQ(0.25f * 31, f[lane]);
        ASSERT_EQ(0x80000000u + (lane > 0 ? lane - 1 : 0), u[lane]);
    }
}

__global__ void halves(unsigned* out) {
    const int lane = threadIdx.x;
    // The two halves are at different calls at the same time, as often as they like.
    if (lane < 16) {
        unsigned sum = 0;
        for (int i = 0; i < 5; ++i) sum += __popc(__ballot_sync(0x0000ffffu, lane > i));
        out[lane] = sum;
    } else {
        out[lane] = __shfl_sync(0xffff0000u, lane, 20);
    }
    __syncwarp();
    out[32 + lane] = out[31 - lane];
}

TEST_F(Warps, DisjointMasksAreIndependent) {
    Managed<unsigned> out(64);
    RUN(halves<<<1, 32>>>(out.get()));
    for (int lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(lane < 16 ? 15u + 14 + 13 + 12 + 11 : 20u, out[lane]);
        ASSERT_EQ(out[31 - lane], out[32 + lane]);
    }
}

__global__ void signedReductions(int* out) {
    const int lane = threadIdx.x;
    out[lane] = __reduce_min_sync(kFull, 5 - lane) + __reduce_add_sync(kFull, -1) +
                __reduce_max_sync(kFull, -lane - 1);
}

TEST_F(Warps, ReductionsHeedTheSign) {
    Managed<int> out(32);
    RUN(signedReductions<<<1, 32>>>(out.get()));
    for (int lane = 0; lane < 32; ++lane) ASSERT_EQ(-26 - 32 - 1, out[lane]);
}

__global__ void activeMasks(unsigned* out) {
    const int t = threadIdx.x;
    out[t] = __activemask();
    if (t % 2 == 0) {
        out[64 + t] = __activemask();
    } else {
        out[64 + t] = __activemask();
    }
}

TEST_F(Warps, ActiveMaskNamesTheLanesOfABranch) {
    Managed<unsigned> out(128);
    RUN(activeMasks<<<1, 40>>>(out.get()));
    for (int t = 0; t < 40; ++t) {
        const unsigned warp = t < 32 ? kFull : 0xffu;
        ASSERT_EQ(warp, out[t]);
        ASSERT_EQ(warp & (t % 2 == 0 ? 0x55555555u : 0xaaaaaaaau), out[64 + t]);
    }
}

// Two atomics of each even lane, and one of each odd one, in 500 rounds: 1,000 at most.
__global__ void countRounds(int* count, unsigned* out) {
    for (int round = 0; round < 500; ++round) {
        out[round * 32 + threadIdx.x] = __activemask();
        atomicAdd(count, 1);
        if (threadIdx.x % 2 == 0) atomicAdd(count, 1);
    }
}

// A thread that does very many may spin on one, and lets others run. The rest of the warp must not
// be taken for such a thread.
TEST_F(Warps, LanesStayTogetherWhateverTheAtomicsOfOthers) {
    Managed<int> count(1);
    Managed<unsigned> out(500 * 32);
    RUN(countRounds<<<1, 32>>>(count.get(), out.get()));
    ASSERT_EQ(500 * 48, count[0]);
    for (int i = 0; i < 500 * 32; ++i) ASSERT_EQ(kFull, out[i]) << i;
}

__global__ void wrongMask(int* out) {
    out[threadIdx.x] = __shfl_sync(0x0000ffffu, 1, 0);
}

__global__ void mixedUp(int* out) {
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_sync(kFull, 1, 0);
    } else {
        out[threadIdx.x] = __any_sync(kFull, 1);
    }
}

TEST_F(Warps, MisuseIsReported) {
    Managed<int> out(32);
    EXPECT_THAT(failure(cudaErrorLaunchFailure, [&] { wrongMask<<<1, 32>>>(out.get()); }),
                HasSubstr("does not name it"));
    cudaDeviceReset();
    Managed<int> again(32);
    EXPECT_THAT(failure(cudaErrorLaunchFailure, [&] { mixedUp<<<1, 32>>>(again.get()); }),
                AllOf(HasSubstr("lanes of one warp meet in different warp functions"),
                      HasSubstr("; a warp function needs all lanes that its mask names: ")));
}

template <class A, class B>
__device__ void inHalves(A first, B second) {
    if (threadIdx.x < 16) {
        first();
    } else {
        second();
    }
}
__global__ void twoShuffles(int) {
    inHalves([] { __shfl_sync(kFull, 1, 0); }, [] { __shfl_xor_sync(kFull, 1, 1); });
}
__global__ void twoVotes(int) {
    inHalves([] { __any_sync(kFull, 1); }, [] { __all_sync(kFull, 1); });
}
__global__ void twoMatches(int all) {
    inHalves([] { __match_any_sync(kFull, 1); }, [&] { __match_all_sync(kFull, 1, &all); });
}
__global__ void shufflesOfGroup(int) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    inHalves([&] { warp.shfl_down(1, 1); }, [&] { __shfl_up_sync(kFull, 1, 1); });
}

TEST_F(Warps, FunctionsOfOneKindDoNotMeetEither) {
    const struct {
        void (*kernel)(int);
        const char *first, *second;
    } cases[] = {
        {twoShuffles, "__shfl_sync()", "__shfl_xor_sync()"},
        {twoVotes, "__any_sync()", "__all_sync()"},
        {twoMatches, "__match_any_sync()", "__match_all_sync()"},
        {shufflesOfGroup, "group.shfl_down()", "__shfl_up_sync()"},
    };
    for (const auto& c : cases) {
        EXPECT_THAT(failure(cudaErrorLaunchFailure, [&] { c.kernel<<<1, 32>>>(0); }),
                    AllOf(HasSubstr(std::string("thread (0,0,0) is at ") + c.first),
                          HasSubstr(std::string("thread (16,0,0) at ") + c.second)));
        cudaDeviceReset();
    }
}

__global__ void oneFunction(int* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int lane = threadIdx.x;
    if (lane < 16) {
        out[lane] = __shfl_sync(kFull, lane, 20);
        __syncwarp();
    } else {
        out[lane] = warp.shfl(lane, 10);
        warp.sync();
    }
}

TEST_F(Warps, OneFunctionMeetsInTwoPlaces) {
    Managed<int> out(32);
    RUN(oneFunction<<<1, 32>>>(out.get()));
    for (int lane = 0; lane < 32; ++lane) ASSERT_EQ(lane < 16 ? 20 : 10, out[lane]);
}

// Each step needs what other warps have done in the one before.
__global__ void blockSumWithoutBarriers(int* data) {
    for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) data[threadIdx.x] += data[threadIdx.x + k];
        __syncwarp();
    }
}

TEST_F(Warps, ABarrierOfTheWarpIsNoneOfTheBlock) {
    Managed<int> data(1024);
    for (int t = 0; t < 1024; ++t) data[t] = 1;
    RUN(blockSumWithoutBarriers<<<1, 1024>>>(data.get()));
    EXPECT_LT(data[0], 1024);
}

__global__ void pollTogether(int* flag) {
    if (threadIdx.x >= 32) {
        atomicExch(flag, 1);
    } else {
        while (__any_sync(kFull, atomicAdd(flag, 0) == 0)) {
        }
    }
}
__global__ void pollPlainFlag(int* out) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncwarp();
    if (threadIdx.x >= 32) flag = 1;
    while (flag == 0) __syncwarp();
    *out = 1;
}

TEST_F(Warps, AWarpMayPollForOneThatHasNotBegun) {
    for (const auto kernel : {pollTogether, pollPlainFlag}) {
        Managed<int> flag(1);
        RUN(kernel<<<1, 64>>>(flag.get()));
        EXPECT_EQ(1, flag[0]);
    }
}

// A lane may be collectives ahead of another: results must not be overwritten before they are read.
__global__ void runAhead(int* out) {
    const int lane = threadIdx.x;
    int total = 0;
    for (int i = 0; i < 50; ++i) {
        total += __shfl_sync(kFull, lane + i, (lane + 1) % 32);
        if (lane < 4) {
            for (int k = 0; k < 3; ++k) total += __shfl_xor_sync(0xfu, i, 1);
        }
    }
    out[lane] = total;
}

TEST_F(Warps, LanesMayRunAhead) {
    Managed<int> out(32);
    RUN(runAhead<<<1, 32>>>(out.get()));
    for (int lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(50 * ((lane + 1) % 32) + 1225 + (lane < 4 ? 3 * 1225 : 0), out[lane]);
    }
}

}  // namespace
