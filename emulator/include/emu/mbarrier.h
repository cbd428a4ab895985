// mbarriers, and the asynchronous copies that they wait for: what <cuda/barrier>, <cuda/pipeline>
// and <cuda/ptx> stand on.
//
// As those of emu/pipeline.h, a copy is carried out as late as a GPU may do so: when the phase of
// its mbarrier ends, or in the wait of its thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emu/pipeline.h"

namespace emu {

// A call in the user's source, for messages; and the last parameters of what the user calls.
struct At {
    const char* what;
    const char* file;
    int line;
};
#define EMU_AT const char *file = __builtin_FILE(), int line = __builtin_LINE()

void mbarrierInit(void* barrier, unsigned count, At at);
void mbarrierInvalidate(void* barrier, At at);
// Each returns the number of the phase that runs.
uint64_t mbarrierArrive(void* barrier, unsigned count, bool drops, At at);
uint64_t mbarrierPhase(void* barrier, At at);
void mbarrierExpect(void* barrier, uint64_t bytes, At at);
// Waits while this phase, or one whose number is as odd, runs.
void mbarrierWait(void* barrier, uint64_t phase, At at);
void mbarrierWaitParity(void* barrier, bool parity, At at);
// Whether that has ended.
bool mbarrierTest(void* barrier, uint64_t phase, At at);
bool mbarrierTestParity(void* barrier, bool parity, At at);

// The mbarrier waits for the copies that the thread has begun.
void asyncArriveOn(void* barrier, At at);
// From global to shared memory by the copy engine; and back.
void bulkCopy(void* to, const void* from, size_t size, void* barrier, At at);
void bulkStore(void* to, const void* from, size_t size, At at);
void bulkCommit();
// Waits until all but the last `prior` groups of stores have read shared memory.
void bulkWait(size_t prior);

#ifdef __EMU_INSTRUMENTED__
void recordProxyFence();
#endif
// What the thread has written to shared memory, bulk stores see.
inline void proxyFence() {
#ifdef __EMU_INSTRUMENTED__
    recordProxyFence();
#endif
}

// Whether the address lies in the shared memory of the block.
bool pointsToShared(const void* address);

}  // namespace emu
