#include "watchdog.h"

#include <execinfo.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "messages.h"
#include "program_symbols.h"
#include "scheduler.h"
#include "symbolizer.h"
#include "watcher.h"

namespace emu {

WatchedGrid watchedGrid;

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPatience = 5;  // [s]
constexpr long kLook = 250;      // [ms] from one look to the next
constexpr double kLong = 0.5;    // [s] that a kernel has run if it is told of at the program's end

struct WatchedThreads {
    std::mutex mutex;
    WatchedThread* first = nullptr;
};
WatchedThreads& watchedThreads() {
    static WatchedThreads& instance = *new WatchedThreads;  // OS threads outlive static objects
    return instance;
}

// Where a thread of the kernel was when it was asked: it answers in a signal handler.
struct Answer {
    std::atomic<bool> wanted{false}, given{false};
    uint3 block, thread;
    void* frames[64];
    int frameCount;
};
Answer answer;

int questionSignal() {
    return SIGRTMAX - 3;
}

void onQuestion(int, siginfo_t*, void*) {
    if (!inDevice() || !answer.wanted.exchange(false)) return;
    answer.block = {blockIdx.x, blockIdx.y, blockIdx.z};
    answer.thread = threadIdx;
    answer.frameCount = backtrace(answer.frames, 64);
    answer.given.store(true, std::memory_order_release);
}

void sleepMs(long milliseconds) {
    timespec time{0, milliseconds * 1000000};
    while (nanosleep(&time, &time) != 0) {
    }
}

// Asks all that are in a kernel; one answers.
bool ask() {
    answer.given = false;
    answer.wanted = true;
    {
        WatchedThreads& known = watchedThreads();
        const std::lock_guard<std::mutex> lock(known.mutex);
        for (const WatchedThread* thread = known.first; thread != nullptr;
             thread = thread->next()) {
            if (thread->inKernel()) syscall(SYS_tgkill, getpid(), thread->id(), questionSignal());
        }
    }
    for (int i = 0; i < 100 && !answer.given; ++i) sleepMs(10);
    answer.wanted = false;
    return answer.given;
}

// Tells the watcher, and returns what there is to say.
std::string tell(double seconds) {
    const std::string kernel = kernelName(watchedGrid.name.load(), watchedGrid.id.load());
    std::string message =
        format("emulator: kernel %s has been running for %.3g s", kernel.c_str(), seconds);
    if (!ask()) {
        if (watcher != nullptr) watcher->gridStillRuns(seconds, {}, {}, 0);
        return message;
    }
    message += ": block " + text(answer.block) + ", thread " + text(answer.thread);
    uintptr_t pc = 0;
    for (int i = 0; i < answer.frameCount; ++i) {
        const SourceLine line = userLine(reinterpret_cast<uintptr_t>(answer.frames[i]));
        if (line.line == 0) continue;
        pc = reinterpret_cast<uintptr_t>(answer.frames[i]);
        message += " is at " + line.file + ":" + std::to_string(line.line);
        break;
    }
    if (watcher != nullptr) watcher->gridStillRuns(seconds, answer.block, answer.thread, pc);
    return message;
}

std::atomic<bool> watching{false};
std::atomic<int> endingSignal{0};
sem_t ending;  // is posted then

// False after some time in which no signal came that ends the program.
bool waitForEnd() {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += kLook * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (sem_timedwait(&ending, &until) != 0) {
        if (errno == ETIMEDOUT) return false;
    }
    return true;
}

void endBySignal(int number) {
    signal(number, SIG_DFL);
    kill(getpid(), number);
}

void onEnd(int number) {
    if (!watching || endingSignal.exchange(number) != 0) {
        endBySignal(number);
        return;
    }
    sem_post(&ending);
}

void watch() {
    uint64_t seen = 0;
    Clock::time_point since;
    bool told = false;
    for (;;) {
        const bool ends = waitForEnd();
        const uint64_t number = watchedGrid.number.load(std::memory_order_acquire);
        if (number != seen) {
            seen = number;
            since = Clock::now();
            told = false;
        }
        const bool runs = number % 2 == 1;
        const double seconds = std::chrono::duration<double>(Clock::now() - since).count();
        if (ends) {
            if (runs && seconds >= kLong) tell(seconds);
            endBySignal(endingSignal);
        }
        if (!runs || told || seconds < kPatience) continue;
        told = true;
        std::fprintf(stderr, "%s. Ctrl-C ends the program.\n", tell(seconds).c_str());
    }
}

}  // namespace

WatchedThread::WatchedThread() : id_(gettid()) {
    WatchedThreads& known = watchedThreads();
    const std::lock_guard<std::mutex> lock(known.mutex);
    next_ = known.first;
    if (next_ != nullptr) next_->previous_ = this;
    known.first = this;
}

WatchedThread::~WatchedThread() {
    WatchedThreads& known = watchedThreads();
    const std::lock_guard<std::mutex> lock(known.mutex);
    (previous_ != nullptr ? previous_->next_ : known.first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
}

void startWatchdog() {
    void* frame = nullptr;
    backtrace(&frame, 1);  // loads what it needs, which a signal handler may not
    struct sigaction action {};
    action.sa_sigaction = onQuestion;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(questionSignal(), &action, nullptr);
    sem_init(&ending, 0, 0);
    try {
        std::thread(watch).detach();
        watching = true;
    } catch (const std::system_error&) {  // no more threads: then nobody watches
    }
}

void tellBeforeTheEnd() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        sigaction(number, nullptr, &before);
        if (before.sa_handler == SIG_DFL) signal(number, onEnd);
    }
}

}  // namespace emu
