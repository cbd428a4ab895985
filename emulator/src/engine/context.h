// Switches from one stack to another: in assembly for x86-64 and AArch64 (context_assembly.cpp),
// elsewhere by the system's ucontext (context_ucontext.cpp).
//
// What a switch in assembly leaves on a stack is a frame of emuSwitchContext(), so that the stack
// that goes on looks as if it had made the call itself, to debuggers as well. It gets there by
// returning: a processor foresees where returns lead from the calls before them, which the threads
// of a kernel mostly share. A jump would leave it one call behind, at every return from there on.
//
// How floating-point numbers are rounded is left alone, though a call should keep that, too: to
// read it would take a third of all time (x86-64), and no context has a way of its own. What rounds
// otherwise (emu/rounding.h) is done with it before anything waits.
#pragma once

#include <cstddef>

// May also be given to the compiler.
#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(EMU_UCONTEXT)
#define EMU_UCONTEXT 1
#endif

namespace emu {

using Context = void*;  // where a suspended stack goes on

// Makes a context that calls `entry` when first switched to; `entry` must not return. It runs on
// the `size` bytes below `stackTop`, and has no caller in a backtrace.
Context makeContext(void* stackTop, size_t size, void (*entry)(void* data));

// Suspends the caller, whom `*from` continues from then on, and continues `to`: there `data` is
// what its own call returns, or the argument of its entry. A context can be continued once.
extern "C" void* emuSwitchContext(Context* from, Context to, void* data);

}  // namespace emu
