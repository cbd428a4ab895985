// What a CUDA thread says about itself: fences, time, sleep, trap, assumptions.
#pragma once

#include <time.h>  // clock(), which is clock64() in a kernel

#include "emu/engine.h"

// All threads of a block run on one OS thread: among them, only the compiler could reorder
// accesses.
inline void __threadfence_block() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    emu::spinHint();
}
inline void __threadfence() {
    __sync_synchronize();  // unlike the fences of <atomic>, accepted with -fsanitize=thread
    emu::spinHint();
}
inline void __threadfence_system() {
    __threadfence();
}

// A clock that ticks as often as that of the GPU whose clock rate the device says it has, whatever
// that of the host. Threads that wait for it to advance do so together, not one after the other.
inline long long clock64() {
    return emu::clockCycles();
}

// The host has nothing to gain from sleeping: whoever sleeps waits for others, so let them run.
inline void __nanosleep(unsigned /*nanoseconds*/) {
    emu::yieldThread();
}

// Of programmatic dependent launch: a kernel begins here when all before it in its stream has
// ended, so that there is nothing to wait for, and nobody who could begin earlier.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

[[noreturn]] inline void __trap() {
    emu::trap();
}
[[noreturn]] inline void __brkpt() {
    emu::trap();
}

// Promises of the programmer to the optimiser, which is free to ignore them. The condition is
// checked for errors, but never evaluated.
#define __assume(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#ifndef __clang__
#define __builtin_assume(condition) __assume(condition)
#endif
