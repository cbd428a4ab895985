// The asynchronous copies that the threads of a block have begun (emu/pipeline.h, emu/mbarrier.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace emu {

// One that has been begun and not yet carried out.
struct AsyncCopy {
    unsigned char* to;
    const unsigned char* from;
    size_t size;                    // bytes written; of a copy of the threads 4, 8 or 16
    size_t read;                    // bytes read; zeros follow
    uintptr_t pc;                   // of the call that began it
    uint64_t group;                 // numbered by each thread
    uint64_t number;                // among those of the block
    const void* barrier = nullptr;  // the mbarrier that waits for it, if any
    bool bulk = false;              // by the copy engine of a GPU (TMA)
    bool store = false;             // from shared to global memory

    // Carries it out; or has `bytes` be what it would write now.
    void carryOut() const { carryOut(to); }
    void carryOut(unsigned char* bytes) const;
};

// Of the block that runs on an OS thread. A thread's `rank` is its number in the block.
class AsyncCopies {
  public:
    // Forgets those of the block before.
    void beginBlock();

    // Fails the kernel if it is none that a GPU can do. `what`, `file` and `line` are those of the
    // call.
    void begin(unsigned rank, AsyncCopy copy, const char* what, const char* file, int line);
    void commit(unsigned rank);
    void wait(unsigned rank, size_t prior);
    // The same of bulk stores.
    void commitStores(unsigned rank);
    void waitForStores(unsigned rank, size_t prior);
    // An mbarrier waits for the copies of the thread that nothing waits for yet.
    void bind(unsigned rank, const void* barrier);
    // Carries out those that the mbarrier waits for.
    void completes(const void* barrier);
    // All threads have ended: what they have not waited for is carried out.
    void blockEnds();

  private:
    struct OfThread {
        std::vector<AsyncCopy> copies;  // the oldest first
        uint64_t groups = 0;            // committed: the number of the group that is open
        uint64_t storeGroups = 0;       // the same of bulk stores
    };

    template <typename Which>
    void carryOut(unsigned rank, Which which);

    std::vector<OfThread> threads_;
    uint64_t begun_ = 0;  // in this block
};

// The address lies in the shared memory of the block that runs.
bool isShared(const void* address);

}  // namespace emu
