#include "multiprocessors.h"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "device_settings.h"
#include "emu/limits.h"
#include "out_of_memory.h"
#include "turns.h"

namespace emu {
namespace {

// Ends the process where there can be no more OS threads, or one has no memory of its own: glibc
// aborts if it needs some for the thread and gets none. Until that is known the caller waits: it
// may be about to say itself that there is no memory, and once is enough.
template <class Work>
std::thread started(Work work) {
    const auto ready = std::make_shared<std::promise<void>>();
    const auto withMemory = [work, ready] {
        constexpr size_t kSome = 100 * 1024;
        void* const memory = std::malloc(kSome);
        if (memory == nullptr) quitWithoutMemory("memory of one more OS thread");
        std::free(memory);
        ready->set_value();
        work();
    };
    try {
        std::thread thread(withMemory);
        ready->get_future().wait();
        return thread;
    } catch (const std::system_error&) {
        quitWithoutMemory("one more OS thread");
    }
}

}  // namespace

int smCount() {
    return deviceSettings().sms;
}

unsigned residentBlocks() {
    return static_cast<unsigned>(smCount() * kMaxBlocksPerSm);
}

HelperPool::HelperPool(int helpers) {
    for (int i = 0; i < helpers; ++i) addHelper();
}

void HelperPool::addHelper() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (helpers_ + 1 >= residentBlocks()) return;
    const unsigned sm = ++helpers_ % static_cast<unsigned>(smCount());
    started([this, sm] { serve(sm); }).detach();
}

void HelperPool::serve(unsigned sm) {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        wakeUp_.wait(lock, [&] { return grid_ != nullptr && generation_ != seen; });
        seen = generation_;
        Grid& grid = *grid_;
        ++busy_;
        lock.unlock();
        runBlocks(grid, sm);
        lock.lock();
        if (--busy_ == 0) done_.notify_all();
    }
}

HelperPool& helperPool() {
    static HelperPool* instance = new HelperPool(smCount() - 1);  // never deleted: as its threads
    return *instance;
}

void runInTurns(Grid& grid) {
    constexpr uint64_t kTogether = 4;
    const auto runs = [&grid](unsigned number) {
        const unsigned sm = number % static_cast<unsigned>(smCount());
        if (grid.barrier) {
            runOneBlock(grid, sm, number);
        } else {
            runBlocks(grid, sm);
        }
    };
    if (grid.blockCount == 1) {
        runs(0);
        return;
    }
    const uint64_t most =
        grid.barrier ? grid.blockCount : std::min<uint64_t>(grid.blockCount, residentBlocks());
    Turns turns(static_cast<unsigned>(most), [&turns, runs](unsigned number) {
        return started([&turns, runs, number] {
            turns.begin(number);
            runs(number);
            turns.end();
        });
    });
    grid.turns = &turns;
    const uint64_t count = grid.barrier ? most : std::min(most, kTogether);
    for (uint64_t number = 1; number < count; ++number) turns.add();
    runs(0);
    turns.endAll();
    grid.turns = nullptr;
}

void runCooperative(Grid& grid) {
    std::vector<std::thread> threads;
    for (uint64_t block = 1; block < grid.blockCount; ++block) {
        const unsigned sm = static_cast<unsigned>(block % static_cast<unsigned>(smCount()));
        threads.push_back(started([&grid, sm, block] { runOneBlock(grid, sm, block); }));
    }
    runOneBlock(grid, 0, 0);
    for (std::thread& thread : threads) thread.join();
}

}  // namespace emu
