#include "warps.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "messages.h"
#include "scheduler.h"
#include "watcher.h"

namespace emu {
namespace {

// Lanes may poll for what others of their warp do later in the program; on a GPU the others get
// there. So lanes that wait for those which are less far go on after so many turns (about
// a millisecond) in which these did nothing but yield ...
constexpr unsigned kTurnsBeforePoll = 100;
// ... or went through a loop.
constexpr unsigned kTurnsBeforeAll = 1 << 20;

bool lessFar(const Progress& a, const Progress& b) {
    if (a.polls != b.polls) return b.polls;
    return std::make_tuple(b.depth, a.place, a.steps) < std::make_tuple(a.depth, b.place, b.steps);
}

bool isShuffle(Resolve resolve) {
    return resolve == &resolveShuffle<Shuffle::Index> || resolve == &resolveShuffle<Shuffle::Up> ||
           resolve == &resolveShuffle<Shuffle::Down> || resolve == &resolveShuffle<Shuffle::Xor>;
}

}  // namespace

void Warps::begin(unsigned threads, unsigned first) {
    threads_ = threads;
    activeMaskWaiters_ = inStep_ = 0;
    for (unsigned begin = 0, w = 0; begin < threads; begin += kWarpSize, ++w) {
        const unsigned lanes = std::min<unsigned>(threads - begin, kWarpSize);
        unsigned alive = lanes == kWarpSize ? kFullMask : (1u << lanes) - 1;
        if (first >= begin + kWarpSize) {
            alive = 0;
        } else if (first > begin) {
            alive &= ~((1u << (first - begin)) - 1);
        }
        warps_[w].alive = alive;
        warps_[w].collecting = warps_[w].inStep = 0;
        warps_[w].yielding = warps_[w].passedOver = 0;
    }
}

void Warps::threadEnded(unsigned rank) {
    Warp& warp = warps_[rank / kWarpSize];
    warp.alive &= ~(1u << rank % kWarpSize);
    if (warp.collecting == 0) return;
    forEachLane(warp.collecting, [&](int lane) {
        if (warp.collecting >> lane & 1) tryComplete(warp, warp.waiting[lane]->mask);
    });
}

// The thread's lane is not in its own mask.
void Warps::failUnnamed(const Fiber& fiber, unsigned mask) const {
    std::string message =
        format("%s: lane %u calls it with the mask 0x%08x, which does not name it",
               text(fiber.site).c_str(), fiber.rank % kWarpSize, mask);
    failKernel(cudaErrorLaunchFailure, std::move(message));
}

unsigned Warps::missingLanes(const Fiber& fiber) const {
    const Warp& warp = warps_[fiber.rank / kWarpSize];
    return fiber.mask & warp.alive & ~warp.collecting;
}

// Completes the collective over `mask` if every lane of it that is alive has arrived, with this
// same mask.
void Warps::tryComplete(Warp& warp, unsigned mask) {
    const unsigned group = mask & warp.alive;
    if (group == 0 || (warp.collecting & group) != group) return;
    bool together = true;
    const unsigned first = static_cast<unsigned>(__builtin_ctz(group));
    forEachLane(group, [&](int lane) { together = together && warp.waiting[lane]->mask == mask; });
    if (!together) return;
    forEachLane(group, [&](int lane) {
        if (warp.resolve[lane] == warp.resolve[first]) return;
        const Fiber &a = *warp.waiting[first], &b = *warp.waiting[lane];
        std::string message = format(
            "lanes of one warp meet in different warp functions: thread %s is at %s, thread %s at "
            "%s, both with mask 0x%08x",
            text(a.threadIdx).c_str(), text(a.site).c_str(), text(b.threadIdx).c_str(),
            text(b.site).c_str(), mask);
        message += std::string("; ") + kMaskAdvice;
        failKernel(cudaErrorLaunchFailure, std::move(message));
    });
    warp.resolve[first](warp.slots.data(), group);
    warp.collecting &= ~group;
    if (watcher != nullptr) {
        const unsigned number = warp.waiting[first]->rank / kWarpSize;
        if (isShuffle(warp.resolve[first])) {
            watcher->shuffleMeets(number, group);
            reportNobody(warp, group);
        }
        watcher->warpMet(number, group, warp.resolve[first] == &resolveSync);
    }
    // In ascending order, the caller too: `sum[i] += sum[i + 16]` by all lanes of a warp, between
    // one __syncwarp() and the next, then reads before it writes, as lanes that run together do.
    forEachLane(group, [&](int lane) { ready_.wake(warp.waiting[lane]); });
}

void Warps::reportNobody(Warp& warp, unsigned group) {
    forEachLane(group, [&](int lane) {
        const unsigned source = static_cast<unsigned>(warp.slots[lane].argument);
        if (group >> source & 1) return;
        const Fiber& reader = *warp.waiting[lane];
        const bool inMask = reader.mask >> source & 1;
        if (watcher->shuffleFromNobody(reader.rank, source, inMask, reader.site)) {
            warp.slots[lane].result = ~warp.slots[lane].result;
        }
    });
}

void Warps::askActiveMask(Fiber* fiber) {
    ++activeMaskWaiters_;
    warps_[fiber->rank / kWarpSize].waiting[fiber->rank % kWarpSize] = fiber;
}

// Which lanes a GPU runs together is its own choice; here it is as many as possible. So a thread
// that asks waits until nothing else in the block can run, and then all lanes of its warp that ask
// at the same place are together.
bool Warps::resolveActiveMasks() {
    if (activeMaskWaiters_ == 0) return false;
    for (unsigned w = 0; w * kWarpSize < threads_; ++w) {
        Warp& warp = warps_[w];
        unsigned asking = 0;
        forEachLane(warp.alive & ~warp.collecting, [&](int lane) {
            const Fiber* fiber = warp.waiting[lane];
            if (fiber != nullptr && fiber->wait == Wait::ActiveMask &&
                fiber->rank == w * kWarpSize + static_cast<unsigned>(lane)) {
                asking |= 1u << lane;
            }
        });
        while (asking != 0) {
            const Fiber& first = *warp.waiting[__builtin_ctz(asking)];
            unsigned together = 0;
            forEachLane(asking, [&](int lane) {
                if (sameSite(warp.waiting[lane]->site, first.site)) together |= 1u << lane;
            });
            forEachLane(together, [&](int lane) {
                warp.waiting[lane]->mask = together;
                ready_.wake(warp.waiting[lane]);
            });
            asking &= ~together;
        }
    }
    activeMaskWaiters_ = 0;
    return true;
}

void Warps::keepInStep(Fiber* fiber) {
    Warp& warp = warps_[fiber->rank / kWarpSize];
    const unsigned lane = fiber->rank % kWarpSize;
    warp.waiting[lane] = fiber;
    warp.inStep |= 1u << lane;
    ++inStep_;
}

bool Warps::resolveInStep() {
    if (inStep_ == 0) return false;
    bool any = false;
    for (unsigned w = 0; w * kWarpSize < threads_; ++w) {
        Warp& warp = warps_[w];
        if (warp.inStep == 0) continue;
        if (warp.yielding != 0 && warp.passedOver < kTurnsBeforePoll) {
            ++warp.passedOver;
            continue;
        }
        unsigned together = leastFar(warp);
        if (warp.passedOver >= kTurnsBeforeAll) together = warp.inStep;
        const bool all = together == warp.inStep && warp.yielding == 0;
        bool steps = false;
        warp.inStep &= ~together;
        forEachLane(together, [&](int lane) {
            --inStep_;
            steps = steps || warp.waiting[lane]->wait == Wait::InStep;
            ready_.wake(warp.waiting[lane]);
        });
        warp.passedOver = all ? 0 : warp.passedOver + steps;
        any = true;
    }
    return any;
}

// The lanes that wait for others, and are least far among those.
unsigned Warps::leastFar(const Warp& warp) {
    const Progress* least = &warp.waiting[__builtin_ctz(warp.inStep)]->progress;
    unsigned together = 0;
    forEachLane(warp.inStep, [&](int lane) {
        const Progress& progress = warp.waiting[lane]->progress;
        if (lessFar(progress, *least)) {
            least = &progress;
            together = 0;
        }
        if (!lessFar(*least, progress)) together |= 1u << lane;
    });
    return together;
}

void Warps::yields(Fiber* fiber) {
    Warp& warp = warps_[fiber->rank / kWarpSize];
    warp.yielding |= 1u << fiber->rank % kWarpSize;
    if (warp.passedOver >= kTurnsBeforePoll) fiber->progress.polls = true;
}

void Warps::yielded(const Fiber* fiber) {
    warps_[fiber->rank / kWarpSize].yielding &= ~(1u << fiber->rank % kWarpSize);
}

}  // namespace emu
