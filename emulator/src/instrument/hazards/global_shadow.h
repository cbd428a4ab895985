// Who touched which bytes of global memory: finds races there, within a launch and with work of
// other streams.
//
// Nothing orders the blocks of a grid but grid.sync(), nor the threads of a block but its barriers
// and, within a warp, __syncwarp(). What a block or warp passes on by a fence and an atomic or
// volatile flag may well be ordered; whether it is depends on the values of the flag, and is not
// judged.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "global_record.h"
#include "instrument/record/recorder.h"
#include "past_work.h"
#include "warp_clocks.h"
#include "warp_fences.h"
#include "word_rules.h"

namespace emu {

// Two accesses that nothing orders, as they came.
struct GlobalRace {
    GlobalRecord first, second;
    uintptr_t address;  // of the second access
    uint32_t size;
    Doer firstDoer;
    bool looked = false;     // the second thread, or its block, had looked at what may be a flag
    bool isTexture = false;  // the second access is by a texture or surface, ordered or not
};

// The records of a launch. For each word the last plain write, the last atomic, and two reads, by
// different blocks or warps where there are such: whoever writes is in another than one of these.
// What earlier work did is kept as long as that may be running. Shared by the OS threads that run
// blocks.
class GlobalShadow {
  public:
    static constexpr size_t kPageBytes = PastPage::kBytes;

    struct Word {
        GlobalRecord write, atomic, read[2];
    };
    struct Page {
        std::atomic_flag lock = ATOMIC_FLAG_INIT;
        uint64_t era = 0;  // that the records are of: see GlobalRaces::beginBlock()
        std::array<Word, kPageBytes / kWordBytes> words;
        std::unique_ptr<PastPage> past;
    };

    explicit GlobalShadow(StreamOrder& order);

    // No block runs.
    void beginLaunch(const LaunchWork& work);

    // The page of an address, or nullptr where there is no memory left for one.
    Page* page(uintptr_t address);
    // Makes the page that holds `address` one of this era of the launch. Needs its lock.
    void beginEra(Page& page, uintptr_t address, uint64_t era);

    // False if all that was done in the page that begins there was done before `work`.
    bool mayMeet(uintptr_t page, const Work& work);
    // False if no work that may be running has touched these bytes of a page; those that it has
    // written, where the host only reads them.
    bool mayBeInUse(uintptr_t begin, size_t bytes, bool hostReads);
    // The number of the last launch whose kernel has touched this memory; nothing where that is not
    // known any more.
    std::optional<uint64_t> lastLaunchAt(uintptr_t begin, size_t bytes);
    // What was done to the word at an address by work that may be running.
    std::vector<PastRecord> recordsAt(uintptr_t address);
    // The last plain write to the word at an address, if no atomic has changed the word: by work
    // that has ended, or may be running. Nothing where later work has used the memory around it.
    std::optional<PastRecord> writerAt(uintptr_t address);
    // A copy or a fill was submitted.
    void addTransfer(const TransferWork& transfer, const Work& work) {
        transfers_.add(transfer, work);
    }
    // Memory was freed, and may become something else; or has just become it.
    void forget(uintptr_t begin, size_t bytes);
    // A launch has executed fences, so that others may know that a part of it was done.
    bool hasFences(uint64_t work);
    // Changes when pages have been given back.
    uint64_t generation() const { return generation_; }

    // Fences of a block, and of others that share its counter.
    uint32_t fencesOf(uint32_t block) const {
        return fences_[block % fences_.size()].load(std::memory_order_relaxed);
    }
    void fence(uint32_t block) {
        ++fences_[block % fences_.size()];
        anyFence_ = true;
    }

    // Each OS thread says which store of a running thread may not have been carried out yet, in a
    // slot: what slotFor() says of its memory, or 0.
    std::atomic<uint64_t>& newSlot();
    static uint64_t slotFor(uintptr_t address, size_t size);
    // Waits until no other thread is about to store there. Of those that wait for one another one
    // yields: it goes on without what it waited for.
    enum class Awaited { Carried, Yields, TooLong };
    Awaited awaitStores(uintptr_t address, std::atomic<uint64_t>& own) const;

    // A plain read beside another thread's atomic, by the reading thread. It is the first step of a
    // loop around atomicCAS(), and no race, if the reader's own atomic follows.
    void mayRace(const GlobalRecord& reader, uintptr_t word, const GlobalRace& race);
    // `compares`: as atomicCAS() does, which an old value does not mislead.
    void updatesAtomically(const GlobalRecord& reader, uintptr_t word, bool compares);
    // Those of the launch that no atomic has followed. No block runs.
    std::vector<GlobalRace> takeRaces();
    // A place (program_code.h) reads what the same thread then updates by an atomic, as in
    // `if (x > *most) atomicMax(most, x);`. What other threads read there is as good.
    void looksBeforeUpdate(uint32_t place);
    bool readsBeforeOwnAtomic(const GlobalRace& race);
    // Places of reads that are no races because of an atomic, but may have got an old value.
    std::set<uint32_t> takeOldLooks();

    // Pages were refused: what lies there was not looked at.
    bool incomplete() const { return incomplete_; }

  private:
    static constexpr size_t kSlots = 4096;

    StreamOrder& order_;
    Transfers transfers_{order_};
    LaunchWork running_;
    bool allAreBefore_ = true;  // no other work may be running with it
    size_t mostPages_;
    std::mutex mutex_;
    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
    uint64_t generation_ = 1;
    std::atomic<bool> incomplete_{false};
    std::atomic<bool> anyFence_{false};  // of the launch
    std::set<uint64_t> withFences_;      // work; guarded by readsMutex_
    std::vector<std::atomic<uint32_t>> fences_ = std::vector<std::atomic<uint32_t>>(1 << 16);
    std::vector<std::atomic<uint64_t>> slots_ = std::vector<std::atomic<uint64_t>>(kSlots);
    std::atomic<size_t> slotsTaken_{0};

    using Read = std::tuple<uintptr_t, uint32_t, uint32_t>;  // word, block, rank
    std::mutex readsMutex_;
    std::map<Read, GlobalRace> reads_;
    std::set<uint32_t> looks_, oldLooks_;  // places
    std::atomic<bool> anyReads_{false};
};

// Looks for races of the block that runs on one OS thread.
class GlobalRaces {
  public:
    GlobalRaces(GlobalShadow& shadow, WarpClocks& clocks, WarpFences& fences);

    // `era` is 2^32 times the number of the launch as work; each grid.sync() adds one.
    void beginBlock(uint64_t era, uint64_t block);
    void barrier(bool wholeGrid);
    void fence(unsigned rank);
    void looksBeforeUpdate(uint32_t place);

    // The hook of an access runs before it; call settle() before anything else happens. `pc` is a
    // place in the user's code.
    void touch(const Access& access, uintptr_t pc, unsigned rank);
    // The accesses so far have been carried out: looks at what was written.
    void settle();

    // The running thread launches a kernel.
    LaunchPoint launchPoint(unsigned rank) { return {block_, epoch_, rank, clocks_.cut(rank)}; }

    // Found since they were cleared.
    std::vector<GlobalRace> races;
    // Pairs of places (program_code.h) that may be ordered by a fence and a flag, or by their
    // values.
    std::vector<std::pair<uint32_t, uint32_t>> notJudged;

  private:
    struct CachedPage {
        uintptr_t number = 0;
        GlobalShadow::Page* page = nullptr;
    };
    // A write that races with others if it changes what they wrote.
    struct PendingWrite {
        uintptr_t word;
        uint32_t before;  // its value
        GlobalRace race;
    };

    GlobalShadow::Page* pageOf(uintptr_t address);
    void touchWord(GlobalShadow::Word& word, const GlobalRace& race, uintptr_t address);
    bool orderedBefore(const GlobalRecord& other, const GlobalRecord& own) const;
    bool hasLooked(const GlobalRecord& other, const GlobalRecord& own) const;
    bool mayBeOrdered(const GlobalRecord& other, const GlobalRecord& own) const;
    bool conflicts(const GlobalRecord& other, const GlobalRecord& own);
    void touchPast(const PastWord& word, const GlobalRace& race, uintptr_t address);
    void keepRead(GlobalShadow::Word& word, const GlobalRecord& own) const;
    void readBefore(size_t firstNew);
    void addNotJudged(const GlobalRecord& other, const GlobalRecord& own);
    void add(const GlobalRace& race);

    GlobalShadow& shadow_;
    WarpClocks& clocks_;
    WarpFences& fences_;
    std::atomic<uint64_t>& announced_;
    uint64_t era_ = 0;
    uint32_t block_ = 0, epoch_ = 0;
    bool acquired_ = false;  // the block has read a global flag: by an atomic or through volatile
    uint64_t generation_ = 0;
    std::array<CachedPage, 256> cache_{};
    std::vector<PendingWrite> pending_;
    std::set<uint32_t> looks_;                   // that the shadow knows
    bool compares_ = false, isTexture_ = false;  // the access that is looked at
};

}  // namespace emu
