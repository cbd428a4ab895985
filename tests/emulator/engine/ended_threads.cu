// Barrier votes, warp functions and groups of which some threads have ended: these are not waited
// for, and have no vote. The CUDA C++ Programming Guide, "Independent Thread Scheduling", says so
// of __syncthreads() and its like, the PTX ISA of vote.sync, match.sync, redux.sync: "all
// non-exited threads in the membermask".
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "fixture.h"

namespace {

namespace cg = cooperative_groups;

constexpr int kThreads = 80;  // the last warp is not full
constexpr int kRounds = 4;
constexpr int kNever = kRounds;

// In which of the rounds a thread ends, before it votes.
struct Ending {
    const char* name;
    int (*of)(int thread);
};
void PrintTo(const Ending& ending, std::ostream* out) {
    *out << ending.name;
}

constexpr Ending kEndings[] = {
    {"nobody", [](int) { return kNever; }},
    {"everyThird", [](int t) { return t % 3 == 0 ? 0 : kNever; }},
    {"lowLanes", [](int t) { return t % 32 < 13 ? 0 : kNever; }},
    {"highLanes", [](int t) { return t % 32 >= 15 ? 0 : kNever; }},
    {"firstWarp", [](int t) { return t < 32 ? 0 : kNever; }},
    {"secondWarp", [](int t) { return t / 32 == 1 ? 0 : kNever; }},
    {"lastWarp", [](int t) { return t >= 64 ? 0 : kNever; }},
    {"allButOne", [](int t) { return t != 37 ? 0 : kNever; }},
    {"someLater", [](int t) { return t % 3 == 1 ? 1 : kNever; }},
    {"firstWarpLater", [](int t) { return t < 32 ? 2 : kNever; }},
    {"lastWarpLater", [](int t) { return t >= 64 ? 1 : kNever; }},
    {"inTurn", [](int t) { return t % (kRounds + 1); }},
    {"warpByWarp", [](int t) { return t / 32 + 1; }},
};

// What a thread says in a round: yes, no, one of each, all but one; the ones are threads that stay
// longest.
bool says(int thread, int round) {
    return round == 0 ? true : round == 1 ? false : round == 2 ? thread == 37 : thread != 37;
}

class EndedThreads : public EngineTest, public ::testing::WithParamInterface<Ending> {
  protected:
    EndedThreads() : ends_(kThreads), votes_(kThreads * kRounds) {
        for (int t = 0; t < kThreads; ++t) {
            ends_[t] = GetParam().of(t);
            for (int round = 0; round < kRounds; ++round) votes_[at(t, round)] = says(t, round);
        }
    }

    static int at(int thread, int round) { return thread * kRounds + round; }
    // The threads of [first, end) that are there in a round.
    std::vector<int> present(int round, int first = 0, int end = kThreads) const {
        std::vector<int> threads;
        for (int t = first; t < std::min(end, kThreads); ++t) {
            if (ends_[t] > round) threads.push_back(t);
        }
        return threads;
    }
    std::vector<int> presentInWarp(int thread, int round) const {
        return present(round, thread / 32 * 32, thread / 32 * 32 + 32);
    }

    Managed<int> ends_, votes_;
};

INSTANTIATE_TEST_SUITE_P(Of, EndedThreads, ::testing::ValuesIn(kEndings),
                         [](const auto& info) { return info.param.name; });

// Of structs without padding.
template <class Votes, class = decltype(Votes::all)>
bool operator==(const Votes& a, const Votes& b) {
    return std::memcmp(&a, &b, sizeof(Votes)) == 0;
}

// ---- votes of a block

struct BlockVotes {
    int yes, no, all, none, any, anyNot;
};

__global__ void voteInBlock(const int* ends, const int* votes, BlockVotes* out) {
    for (int round = 0; round < kRounds; ++round) {
        if (ends[threadIdx.x] == round) return;
        const int vote = votes[threadIdx.x * kRounds + round];
        BlockVotes& mine = out[threadIdx.x * kRounds + round];
        mine.yes = __syncthreads_count(vote);
        mine.no = __syncthreads_count(!vote);
        mine.all = __syncthreads_and(vote) != 0;
        mine.none = __syncthreads_and(!vote) != 0;
        mine.any = __syncthreads_or(vote) != 0;
        mine.anyNot = __syncthreads_or(!vote) != 0;
    }
}

TEST_P(EndedThreads, HaveNoVoteInABlock) {
    Managed<BlockVotes> out(kThreads * kRounds);
    RUN(voteInBlock<<<1, kThreads>>>(ends_.get(), votes_.get(), out.get()));
    for (int round = 0; round < kRounds; ++round) {
        const std::vector<int> threads = present(round);
        const int all = static_cast<int>(threads.size());
        const int yes = static_cast<int>(
            std::count_if(threads.begin(), threads.end(), [&](int t) { return says(t, round); }));
        for (const int t : threads) {
            const BlockVotes expected = {yes, all - yes, yes == all, yes == 0, yes > 0, yes < all};
            ASSERT_EQ(expected, out[at(t, round)]) << "thread " << t << ", round " << round;
        }
    }
}

// ---- functions of a warp, with a mask that names all lanes

__device__ unsigned lanesAtFirst() {
    return threadIdx.x / 32 < kThreads / 32 ? 0xffffffffu : (1u << kThreads % 32) - 1;
}

struct WarpVotes {
    unsigned ballot, same, allSame, sum, least, most, conjunction, disjunction, parity, first;
    int any, all, allAreSame;
};

__global__ void voteInWarp(const int* ends, const int* votes, WarpVotes* out) {
    for (int round = 0; round < kRounds; ++round) {
        if (ends[threadIdx.x] == round) return;
        const int vote = votes[threadIdx.x * kRounds + round];
        WarpVotes& mine = out[threadIdx.x * kRounds + round];
        const unsigned mask = lanesAtFirst();
        mine.ballot = __ballot_sync(mask, vote);
        mine.any = __any_sync(mask, vote) != 0;
        mine.all = __all_sync(mask, vote) != 0;
        mine.same = __match_any_sync(mask, threadIdx.x % 3);
        mine.allSame = __match_all_sync(mask, vote, &mine.allAreSame);
        mine.sum = __reduce_add_sync(mask, threadIdx.x);
        mine.least = __reduce_min_sync(mask, threadIdx.x);
        mine.most = __reduce_max_sync(mask, threadIdx.x);
        mine.conjunction = __reduce_and_sync(mask, ~(1u << threadIdx.x % 32));
        mine.disjunction = __reduce_or_sync(mask, 1u << threadIdx.x % 32);
        mine.parity = __reduce_xor_sync(mask, 1u << threadIdx.x % 32);
        __syncwarp(mask);
        mine.first = __shfl_sync(mask, threadIdx.x, __ffs(mine.disjunction) - 1);
    }
}

TEST_P(EndedThreads, HaveNoVoteInAWarp) {
    Managed<WarpVotes> out(kThreads * kRounds);
    RUN(voteInWarp<<<1, kThreads>>>(ends_.get(), votes_.get(), out.get()));
    for (int round = 0; round < kRounds; ++round) {
        for (const int t : present(round)) {
            unsigned group = 0, yes = 0, same = 0, sum = 0;
            const std::vector<int> threads = presentInWarp(t, round);
            for (const int other : threads) {
                const unsigned lane = 1u << other % 32;
                group |= lane;
                if (says(other, round)) yes |= lane;
                if (other % 3 == t % 3) same |= lane;
                sum += static_cast<unsigned>(other);
            }
            const bool allSame = yes == 0 || yes == group;
            const auto first = static_cast<unsigned>(threads.front());
            const auto last = static_cast<unsigned>(threads.back());
            const WarpVotes expected = {
                yes,   same,     allSame ? group : 0, sum,    first, last, ~group, group, group,
                first, yes != 0, yes == group,        allSame};
            ASSERT_EQ(expected, out[at(t, round)]) << "thread " << t << ", round " << round;
        }
    }
}

// ---- groups of the threads that are left

struct GroupVotes {
    unsigned size, rank, ballot, sum, before, last;
    int any, all;
    float sumOfFloats;
};

__global__ void voteInGroup(const int* ends, const int* votes, GroupVotes* out) {
    for (int round = 0; round < kRounds; ++round) {
        if (ends[threadIdx.x] == round) return;
        __syncwarp(lanesAtFirst());
        const cg::coalesced_group group = cg::coalesced_threads();
        const int vote = votes[threadIdx.x * kRounds + round];
        GroupVotes& mine = out[threadIdx.x * kRounds + round];
        mine.size = group.size();
        mine.rank = group.thread_rank();
        mine.ballot = group.ballot(vote);
        mine.any = group.any(vote) != 0;
        mine.all = group.all(vote) != 0;
        mine.sum = cg::reduce(group, threadIdx.x, cg::plus<unsigned>());
        mine.sumOfFloats = cg::reduce(group, 0.5f * threadIdx.x, cg::plus<float>());
        mine.before = cg::exclusive_scan(group, 1u);
        group.sync();
        mine.last = group.shfl(threadIdx.x, group.size() - 1);
    }
}

TEST_P(EndedThreads, AreInNoGroup) {
    Managed<GroupVotes> out(kThreads * kRounds);
    RUN(voteInGroup<<<1, kThreads>>>(ends_.get(), votes_.get(), out.get()));
    for (int round = 0; round < kRounds; ++round) {
        for (const int t : present(round)) {
            const std::vector<int> threads = presentInWarp(t, round);
            unsigned rank = 0, yes = 0, sum = 0;
            for (unsigned i = 0; i < threads.size(); ++i) {
                if (threads[i] == t) rank = i;
                if (says(threads[i], round)) yes |= 1u << i;
                sum += static_cast<unsigned>(threads[i]);
            }
            const auto size = static_cast<unsigned>(threads.size());
            const bool all = static_cast<unsigned>(__builtin_popcount(yes)) == size;
            const GroupVotes expected = {size,     rank, yes,
                                         sum,      rank, static_cast<unsigned>(threads.back()),
                                         yes != 0, all,  0.5f * static_cast<float>(sum)};
            ASSERT_EQ(expected, out[at(t, round)]) << "thread " << t << ", round " << round;
        }
    }
}

}  // namespace
