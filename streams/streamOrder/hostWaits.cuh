#pragma once
// How the host waits for a kernel, and in which calls it does so without being asked: streamOrder.

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "../events.cuh"
#include "../forkJoin.cuh"
#include "busyWait.cuh"
#include "hostCalls.cuh"
#include "lab.cuh"
#include "orderRows.cuh"

// ---- the host waits for a kernel

// Asks until the answer is no longer cudaErrorNotReady, which is no error. Between two questions
// the host has time for a piece of its own work.
inline std::size_t pollsOf(const std::function<cudaError_t()>& query,
                           const std::function<void()>& work) {
    std::size_t polls = 0;
    cudaError_t answer;
    while ((answer = query()) == cudaErrorNotReady) {
        ++polls;
        work();
    }
    CUDA_CHECK(answer);
    return polls;
}

inline void waitingHost(lab::Exercise& exercise, unsigned long long nanoseconds) {
    const std::vector<int> numbers = lab::randomInts(1 << 16, exercise.seed(), 0, 100);
    lab::PinnedBuffer<lab::Span> span(1);
    const ForkJoin streams(1);
    const cudaStream_t stream = streams[0];
    const Events spinning(1), sleeping(1, cudaEventDisableTiming | cudaEventBlockingSync);
    volatile int sum = 0;
    const auto work = [&] { sum = std::accumulate(numbers.begin(), numbers.end(), 0); };

    struct Times {
        std::vector<double> calls, cpus;
        std::size_t polls = 0;
        std::string wrong;
    };
    // `wait` returns how many polls were too early.
    const auto times = [&](cudaEvent_t event, const auto& wait) {
        Times times;
        for (int run = 0; run < runsOf(exercise); ++run) {
            span[0] = {};
            stay<<<1, 1, 0, stream>>>(nanoseconds, span.get());
            CUDA_CHECK_LAUNCH();
            CUDA_CHECK(cudaEventRecord(event, stream));
            const std::clock_t cpu = std::clock();  // of all threads of the program
            const lab::CpuTimer timer;
            times.polls = wait(event);
            times.calls.push_back(timer.milliseconds());
            times.cpus.push_back(1e3 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
            if (!lab::stayedFor(span[0], nanoseconds)) times.wrong = "the kernel has not ended";
        }
        return times;
    };
    const auto row = [&](const char* name, const Times& times, const std::string& how,
                         const lab::Cell& polls = {}) {
        Cells cells("ended", times.wrong.empty() ? "ended" + how : "not ended");
        cells.call = inMicroseconds(exercise, times.calls);
        cells.cpu = inMicroseconds(exercise, times.cpus);
        cells.polls = polls;
        printRow(exercise, name, {times.wrong, cells});
    };
    const auto asking = [&](const char* name, const auto& query) {
        if (!exercise.selected(name)) return;
        const Times asked = times(spinning[0], [&](cudaEvent_t event) {
            return pollsOf([&] { return query(event); }, work);
        });
        row(name, asked, lab::formatted(", %zu polls", asked.polls), asked.polls);
    };
    const auto synchronizing = [&](const char* name, cudaEvent_t event) {
        if (!exercise.selected(name)) return;
        const Times waited = times(event, [](cudaEvent_t waitedFor) {
            CUDA_CHECK(cudaEventSynchronize(waitedFor));
            return 0;
        });
        const bool works =
            lab::statistics(waited.cpus).median > lab::statistics(waited.calls).median / 2;
        row(name, waited, !exercise.timesCount() ? "" : works ? ", spinning" : ", asleep");
    };
    asking("queryEvent", [](cudaEvent_t event) { return cudaEventQuery(event); });
    asking("queryStream", [&](cudaEvent_t) { return cudaStreamQuery(stream); });
    synchronizing("synchronize", spinning[0]);
    synchronizing("synchronizeAsleep", sleeping[0]);
}

// ---- calls in which the host waits

// A call while a kernel runs in `stream`, several times.
struct CallBeside {
    std::vector<double> calls;
    std::string wrong, seen = "yes";
};

inline void hostCalls(lab::Exercise& exercise, unsigned long long nanoseconds) {
    HostCalls calls;
    lab::PinnedBuffer<lab::Span> span(1);
    const ForkJoin nonBlocking(1);
    cudaStream_t blocking;
    CUDA_CHECK(cudaStreamCreate(&blocking));

    const auto measured = [&](const HostCall& call, cudaStream_t stream, bool beside) {
        CallBeside result;
        for (int run = 0; run < runsOf(exercise); ++run) {
            calls.clear();
            call.before();
            CUDA_CHECK(cudaDeviceSynchronize());
            span[0] = {};
            if (beside) stay<<<1, 1, 0, stream>>>(nanoseconds, span.get());
            CUDA_CHECK_LAUNCH();
            const bool runs = cudaStreamQuery(stream) == cudaErrorNotReady;
            const lab::CpuTimer timer;
            call.call(stream);
            result.calls.push_back(timer.milliseconds());
            // Once is enough to know that the host does not wait.
            if (runs && cudaStreamQuery(stream) == cudaErrorNotReady)
                result.seen = "no";
            else if (!runs && result.seen == "yes")
                result.seen = "?";
            CUDA_CHECK(cudaDeviceSynchronize());
            if (beside && !lab::stayedFor(span[0], nanoseconds))
                result.wrong = "the kernel has not run";
            if (result.wrong.empty()) result.wrong = call.wrong();
            call.after();
        }
        return result;
    };
    for (const HostCall& call : calls.all()) {
        if (!exercise.selected(call.name)) continue;
        const CallBeside idle = measured(call, nonBlocking[0], false);
        const CallBeside beside = measured(call, nonBlocking[0], true);
        const CallBeside behind = measured(call, blocking, true);
        std::string wrong;
        for (const CallBeside& each : {idle, beside, behind}) {
            if (wrong.empty()) wrong = each.wrong;
        }
        if ((call.beside == "yes" && beside.seen == "no") ||
            (call.behind == "yes" && behind.seen == "no"))
            wrong = "the host did not wait";
        Cells cells{call.beside + " / " + call.behind, beside.seen + " / " + behind.seen};
        cells.idle = inMicroseconds(exercise, idle.calls);
        cells.call = inMicroseconds(exercise, beside.calls);
        cells.behind = inMicroseconds(exercise, behind.calls);
        printRow(exercise, call.name, {wrong, cells});
    }
    CUDA_CHECK(cudaStreamDestroy(blocking));
}
