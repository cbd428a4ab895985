// What a translated kernel sees of the engine: built-in variables, the loop over CUDA threads,
// block barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "emu/limits.h"
#include "emu/runtime_types.h"
#include "emu/vector_types.h"

// CUDA's built-in variables: one set per OS thread; the scheduler sets threadIdx whenever it
// switches between CUDA threads.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
constexpr int warpSize = emu::kWarpSize;

// Dynamic shared memory of the block that runs on this OS thread; `extern __shared__` arrays are
// translated into references to it.
extern "C" __thread unsigned char emu_dynamic_shared[emu::kSharedPerBlockOptin];

namespace emu {

inline void* dynamicShared() {
    void* memory = emu_dynamic_shared;
    // Hidden from the compiler: -fsanitize=object-size can take arrays in it for too small.
    __asm__("" : "+r"(memory));
    return memory;
}

// What every byte of shared memory holds that nobody in the block has written: a read of it gives
// garbage, not a lucky zero.
constexpr unsigned char kUnwrittenShared = 0xCB;

// What an array of T is aligned to, at least: as often on a GPU, it can hold float4. (Of structs
// the compiler would change how it accesses their members.)
template <class T>
constexpr size_t kSharedAlignment =
    std::is_arithmetic<std::remove_all_extents_t<T>>::value ? 16 : alignof(T);

// The calling thread has reached the declaration of a __shared__ variable of `size` bytes, in a
// kernel or in a function that it calls; the translator puts this behind it. The first thread of a
// block finds nothing written.
void sharedReached(void* variable, size_t size) noexcept;

// ---- running the threads of a grid

// The end of a thread needs the scheduler: some CUDA thread of the block is suspended, or somebody
// watches.
extern __thread bool endNeedsScheduler;

// Ends the current CUDA thread and makes the next one current, in this block or in the next one
// that this OS thread takes. Returns false when there is none left for the calling fiber.
bool nextThreadSlow();
inline bool nextThread() {
    if (__builtin_expect(!endNeedsScheduler, 1) && ++threadIdx.x < blockDim.x) return true;
    return nextThreadSlow();
}

// Runs CUDA threads one after the other in a plain loop. A thread that has to wait suspends the
// fiber that this loop runs on, and the scheduler continues the loop on another: a kernel that
// never waits costs no switch at all. Aligned, so that the loop around a short kernel lies in one
// cache line in every program.
template <class Body>
__attribute__((aligned(64))) void runThreads(const void* body) {
    do {
        (*static_cast<const Body*>(body))();
    } while (nextThread());
}

struct LaunchConfig {
    dim3 grid, block;
    size_t dynamicShared;
    cudaStream_t stream;
    bool cooperative = false;
};

// A kernel with its arguments, ready to run.
struct KernelCall {
    const char* name;
    const void* id;  // the kernel's address, or nullptr where it cannot be taken
    std::shared_ptr<const void> body;
    void (*run)(const void* body);
};

// ---- parameters that are references

// Whether the kernel that the caller launches can reach memory at `address`.
bool kernelReaches(const volatile void* address);
// Ends the kernel, whose parameter `number`, counted from 1, refers to `address`.
[[noreturn]] void failReference(const volatile void* address, size_t number);

// ---- barriers

struct BarrierCount {
    unsigned truePredicates;
    unsigned participants;
};

// Waits for all threads of the block that have not ended. `what` names the call in error messages.
BarrierCount blockBarrier(bool predicate, const char* what, const char* file, int line);

// Waits for all blocks of a cooperative launch.
void gridBarrier(const char* file, int line);
bool gridIsCooperative();

// ---- for atomics, fences and the like

// Lets the other CUDA threads of the block run. Called where a thread may be polling for something
// that another one has to do.
void yieldThread();

// Called by every atomic operation and fence: now and then it yields, so that a thread which spins
// on one does not hang its block. Where threads wait, each has its own count: a thread that does
// not spin stays with its warp, whatever the others do. The numbers are prime: of threads that poll
// in turn it is not always the same one that yields.
extern __thread unsigned spinCount;
inline void spinHint() {
    if (__builtin_expect(++spinCount % 1031 == 0, 0)) yieldThread();
}

// Called by every load through a volatile pointer, and in each turn of a loop that looks at
// something volatile by another name: many of them and no store are a poll.
extern __thread unsigned volatileLoads;  // since the last store through one
inline void pollHint() {
    if (__builtin_expect(++volatileLoads % 4099 == 0, 0)) yieldThread();
}

// ---- lanes in step

// In code from before Volta the lanes of a warp rely on running in step. Here each runs alone, and
// waits at the following calls for those that are less far: in a called function (the translator
// puts laneEnters() and laneLeaves() into functions with volatile pointers), at an earlier `place`
// of the function (numbered in the order of the source), or fewer steps behind it. Lanes that are
// equally far go on in ascending order.

// Before and after a store through a volatile pointer: see volatile.h.
void laneStep();
// Before and after a load through one. A load is no step: a lane that loads less often than the
// others, as in a `?:`, is not behind them for that. A lane that loads from one address again and
// again polls: it does not wait, and laneLoads() returns false.
bool laneLoads(const volatile void* address);
void laneHasLoaded();

// Lanes that went different ways meet again: behind an `if`, at the end of a loop's body, in an
// `else`, which comes behind the `if`, and behind a statement with a `?:`, && or ||.
void laneJoin(unsigned place);
// The same within an assignment to memory: `value` is its right side, and the store comes next.
template <class T>
T laneAssigns(unsigned place, T value) {
    laneJoin(place);
    return value;
}
// Behind a loop.
void laneLeavesLoop(unsigned place);
// Where the next turn of a loop begins, without waiting: again before all places in the loop.
void lanePasses(unsigned place);
// At the beginning of a function, without waiting, and at its end.
void laneEnters(unsigned place);
void laneLeaves(unsigned place);

[[noreturn]] void trap();
// Ends the kernel with `what`, which nvcc would not have compiled.
[[noreturn]] void refuse(const char* what);

// Index of the calling CUDA thread within its block, x fastest.
inline unsigned threadRankInBlock() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

unsigned long long globaltimer();  // [ns]
long long clockCycles();           // what clock64() returns
unsigned smid();                   // the worker (emulated SM) that runs this block

}  // namespace emu

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    emu::blockBarrier(false, "__syncthreads()", file, line);
}
inline int __syncthreads_count(int predicate, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
    return static_cast<int>(
        emu::blockBarrier(predicate != 0, "__syncthreads_count()", file, line).truePredicates);
}
inline int __syncthreads_and(int predicate, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
    const auto count = emu::blockBarrier(predicate != 0, "__syncthreads_and()", file, line);
    return count.truePredicates == count.participants;
}
inline int __syncthreads_or(int predicate, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
    return emu::blockBarrier(predicate != 0, "__syncthreads_or()", file, line).truePredicates != 0;
}
