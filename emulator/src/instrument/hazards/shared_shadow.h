// Who touched which bytes of a block's shared memory, and in which order: finds races and reads of
// what nobody wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "instrument/record/recorder.h"
#include "warp_clocks.h"
#include "warp_fences.h"

namespace emu {

// What a thread did to (some bytes of) one word of shared memory.
struct SharedAccess {
    uintptr_t pc = 0;     // return address in the user's code
    size_t offset = 0;    // of the whole access, from the start of the shared memory
    uint32_t size = 0;    // of the whole access
    uint32_t step = 0;    // the thread's accesses since the last barrier: its program order
    uint32_t clock = 0;   // of the thread among its warp: see WarpClocks
    uint32_t fences = 0;  // of the block, so far: see WarpFences
    uint32_t value = 0;   // of the word, after a store
    uint16_t rank = 0;
    uint8_t bytes = 0;  // of the word: bit i for byte i
    AccessKind kind = AccessKind::Load;
    bool isVolatile = false;
    bool compares = false;  // atomicCAS()
    bool isAsync = false;   // of an asynchronous copy
    uint16_t barrier = 0;   // the mbarrier that waits for the copy, if any: see WarpClocks
    bool looked = false;    // its warp had looked at what may be a flag: see WarpFences

    bool writes() const { return kind != AccessKind::Load; }
    // Whose clock tells when it is done.
    unsigned doer() const { return barrier != 0 ? barrier : rank; }
};

// Two accesses that nothing orders, in the order of the threads' programs.
struct Race {
    SharedAccess first, second;
};

// A barrier orders everything; within a warp, __syncwarp() orders what its lanes did. Two writes of
// the same value are no race.
//
// For each word and line of the source it keeps the accesses of two warps since the last barrier:
// whoever is in conflict with an access of a third warp is in another warp than one of the two, and
// only a barrier orders warps. (A third warp's write of another value than theirs is a race with
// them.) So an access costs the same however many threads share the word. In a block with mbarriers
// it keeps the accesses of all.
class SharedShadow {
  public:
    // `memory` is the start of the block's shared memory, `size` its bytes. Clocks and fences are
    // the caller's.
    SharedShadow(const unsigned char* memory, size_t size, const WarpClocks& clocks,
                 const WarpFences& fences);

    void beginBlock();
    // All that came before is ordered. Call it at the end of the block, too.
    void barrier(std::vector<Race>& races);

    // The hook of an access runs before it; call settle() before anything else happens.
    void touch(SharedAccess access, std::vector<Race>& races);
    // A store, of whole words, that is carried out at some time before its thread waits for it; now
    // it would write `bytes`. Call it where the store begins, and behind each meeting of the thread
    // with others until the wait; settle() comes before.
    void touchAsync(SharedAccess access, const unsigned char* bytes, std::vector<Race>& races);
    // The accesses so far have been carried out: looks at what was written.
    void settle(std::vector<Race>& races);

    // Bulk stores see what the thread has written.
    void proxyFence(unsigned rank);
    // What a thread wrote in this range, and no proxy fence followed: neither its own, nor, behind
    // a barrier, one of `reader`, which stores from there in bulk.
    struct Unfenced {
        size_t offset;
        uintptr_t pc;
        unsigned rank;
    };
    std::optional<Unfenced> unfenced(size_t offset, size_t size, unsigned reader) const;

    // No byte of the range has been written in this block.
    bool neverWritten(size_t offset, size_t size) const;

    // Pairs of places in the code that may be ordered by a fence and a flag: no races.
    std::set<std::pair<uintptr_t, uintptr_t>> notJudged;
    // Plain reads beside atomics of others, before the reader's own one, which was no atomicCAS().
    std::set<uintptr_t> oldLooks;

  private:
    // Accesses from one line to the same bytes of a word, each of another thread.
    struct Line {
        std::vector<SharedAccess> accesses;  // never empty, but for forgotten reads
        bool ofTwoWarps = false;
        int32_t next = -1;  // of the word, in lines_
        uintptr_t pc = 0;
        uint8_t bytes = 0;
        AccessKind kind = AccessKind::Load;
        bool isVolatile = false;

        bool isOf(const SharedAccess& access) const {
            return pc == access.pc && bytes == access.bytes && kind == access.kind &&
                   isVolatile == access.isVolatile;
        }
        SharedAccess* find(unsigned doer);
        void keep(const SharedAccess& access, bool all);
        void forget(unsigned rank);
    };
    struct Word {
        uint32_t block = 0, epoch = 0;
        int32_t lines = -1;   // the first in lines_, of this epoch
        uint8_t written = 0;  // in this block: bit i for byte i
        // The last write of a thread in this block: its proxy fences and the barriers until then.
        uint16_t writer = 0;
        uint32_t fences = 0, writeEpoch = 0;
        uintptr_t writerPc = 0;
    };
    struct PendingStore {
        size_t word;
        size_t line;
        SharedAccess access;
        std::vector<SharedAccess> others;  // stores that it races with if the values differ
    };

    void touchWord(size_t word, const SharedAccess& access, std::vector<Race>& races);
    void look(size_t word, const Line& line, const SharedAccess& access,
              std::vector<SharedAccess>& stores, std::vector<Race>& races);
    size_t newLine(Word& word, const SharedAccess& access);
    void forgetReads(size_t word, const SharedAccess& atomic);
    // `memory` holds the shared memory from `begin` on.
    void settle(const unsigned char* memory, size_t begin, std::vector<Race>& races);

    const unsigned char* memory_;
    std::vector<Word> words_;
    uint32_t block_ = 0, epoch_ = 0;
    std::vector<Line> lines_;  // the first linesUsed_ are of this epoch
    size_t linesUsed_ = 0;
    std::vector<PendingStore> pending_;
    struct ProxyFences {
        uint32_t count = 0, epoch = 0;  // of the last one
    };
    std::vector<ProxyFences> proxyFences_ = std::vector<ProxyFences>(kMaxThreadsPerBlock);
    // Plain reads beside atomics of others, by reader, word and places. They are the first step of
    // a loop around atomicCAS(), and no race, if the reader's own atomic follows.
    using Read = std::tuple<unsigned, size_t, uintptr_t, uintptr_t>;
    std::map<Read, Race> reads_;
    const WarpClocks& clocks_;
    const WarpFences& fences_;
};

}  // namespace emu
