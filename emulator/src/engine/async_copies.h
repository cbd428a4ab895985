// The asynchronous copies that the threads of a block have begun (emu/pipeline.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu {

// One that has been begun and not yet carried out.
struct AsyncCopy {
    unsigned char* to;          // in shared memory
    const unsigned char* from;  // in global memory
    size_t size;                // bytes written: 4, 8 or 16
    size_t read;                // bytes read; zeros follow
    uintptr_t pc;               // of the call that began it
    uint64_t group;             // numbered by each thread

    // Carries it out; or has `bytes` be what it would write now.
    void carryOut() const { carryOut(to); }
    void carryOut(unsigned char* bytes) const;
};

// Of the block that runs on an OS thread. A thread's `rank` is its number in the block.
class AsyncCopies {
  public:
    // Forgets those of the block before.
    void beginBlock();

    // Fails the kernel if it is none that a GPU can do. `file` and `line` are those of the call.
    void begin(unsigned rank, AsyncCopy copy, const char* file, int line);
    void commit(unsigned rank);
    void wait(unsigned rank, size_t prior);
    // All threads have ended: what they have not waited for is carried out.
    void blockEnds();

  private:
    struct OfThread {
        std::vector<AsyncCopy> copies;  // the oldest first
        uint64_t groups = 0;            // committed: the number of the group that is open
    };

    void carryOut(unsigned rank, uint64_t endGroup);

    std::vector<OfThread> threads_;
    bool used_ = false;  // the block has begun a copy
};

}  // namespace emu
