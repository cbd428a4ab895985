// Which threads of a block ended without reaching a barrier that others waited at, and whether they
// were wrong to.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "emu/limits.h"
#include "engine/call_site.h"

namespace emu {

// How a thread went through the kernel's own function, by its basic blocks.
struct KernelPath {
    std::array<uintptr_t, 5> recent{};  // until the function's end, the latest one first
    uintptr_t highest = 0;              // address of all before these
    bool ended = false;
    bool hasReturn = false;  // the function has `return` statements
    // Where the program tells of `return` statements: the block of the one that was carried out, or
    // 0, and the highest address before that.
    uintptr_t returnBlock = 0, beforeReturn = 0;

    void add(uintptr_t block);
    void returns();
    uintptr_t lastBlock() const;  // of the user's: behind it comes the function's end
};

// A thread that returned early is no error: since Volta a barrier waits for those that are left,
// and textbooks' kernels begin with `if (i >= n) return;`. A thread that passed the barrier by is
// one: then the barrier is in an `if` or a loop that not all threads take alike.
//
// What g++ makes of a kernel without optimisation tells these apart. If it has `return` statements,
// they and the closing brace are blocks of their own, which all go on to one last block; that of
// the closing brace is just before it. Where destructors run at the end, all paths share the block
// that calls them; from there, threads that returned take a block behind that of the others.
// clang's code does not, but tells of `return` statements (emu/decisions.h).
class BarrierCheck {
  public:
    struct PassedBy {
        CallSite site;
        unsigned waiting, ended;  // ranks, the first of each
        unsigned count;           // of threads that ended
        uintptr_t from;           // the last block of `ended` in the kernel
    };
    struct Barrier {
        CallSite site;
        uintptr_t call;      // return address of the call in the user's code: tells barriers apart
        uintptr_t inKernel;  // the place in the kernel's own function
    };
    struct TwoBarriers {
        Barrier barrier[2];
        unsigned rank[2];
    };

    void beginBlock(const void* kernel);

    // Returns true, with the details, if another thread waits at another barrier.
    bool reached(unsigned rank, const Barrier& barrier, TwoBarriers* clash);
    void released();
    void threadEnded(unsigned rank, const KernelPath& path);

    // When all threads of the block have ended: the barriers that were passed by.
    std::vector<PassedBy> passedBy() const;

  private:
    struct Site {
        Barrier barrier;
        unsigned waiting;  // the last one that came first
        std::bitset<kMaxThreadsPerBlock> arrived, missing;
    };

    // How many blocks of the path the end of the kernel has, from a `return` statement on; 0 if the
    // thread came to the closing brace.
    size_t blocksOfReturn(const KernelPath& path) const;
    bool passed(const KernelPath& path, const Site& site, unsigned rank) const;

    const void* kernel_ = nullptr;
    // For each last block of this kernel, those that led there so far, and from where.
    std::map<uintptr_t, std::map<uintptr_t, uintptr_t>> exits_;
    std::vector<Site> sites_;
    std::vector<KernelPath> paths_ = std::vector<KernelPath>(kMaxThreadsPerBlock);
    std::bitset<kMaxThreadsPerBlock> ended_;
    int waitingAt_ = -1;  // in sites_
};

}  // namespace emu
