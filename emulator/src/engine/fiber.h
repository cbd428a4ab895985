// Stackful fibers: the execution contexts of CUDA threads that have to wait for one another.
#pragma once

#include <cstddef>
#include <string>

#include "call_site.h"
#include "context.h"
#include "emu/vector_types.h"
#include "stacks.h"

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ADDRESS_SANITIZER 1
#endif
#endif

namespace emu {

enum class Wait { None, InStep, AtLoad, BlockBarrier, MBarrier, Collective, ActiveMask };

// How far a thread has come, as far as the calls that keep lanes in step tell (scheduler.h).
struct Progress {
    unsigned depth = 0;  // calls of functions with such calls that it is in
    unsigned place = 0;  // the last such place, numbered in the order of the source
    unsigned steps = 0;  // since then
    bool polls = false;  // in a loop, for something that lanes behind it have to do
    const volatile void* loaded = nullptr;  // last, through a volatile pointer
    unsigned loads = 0;                     // from there, since the last step
};

// An execution context with its stack and, while it runs or suspends a CUDA thread, that thread's
// identity and what it waits for.
struct Fiber {
    Context context = nullptr;
    void* stackBottom =
        nullptr;  // lowest address; nullptr for an OS thread's own stack (until known)
    size_t stackSize = 0;
    bool guarded = true;  // an overflow faults; else checkStack() finds it
    void* sanitizerStack =
        nullptr;  // AddressSanitizer's shadow of this stack while another one runs

    unsigned index = 0;  // among the fibers of its OS thread

    uint3 threadIdx{};
    unsigned rank = 0;  // thread index within the block, x fastest
    Wait wait = Wait::None;
    CallSite site;
    unsigned mask = 0;    // lanes that a collective waits for; the answer of __activemask()
    unsigned launch = 0;  // the launch that this fiber last ran a thread of
    bool finished = false;
    unsigned spins = 0;  // spinCount, while another thread runs
    Progress progress;
    bool polls =
        false;  // it has yielded, and made no plain access since; kept with a schedule alone
};

// What every fiber runs, from its first switch on; scheduler.cpp has it.
[[noreturn]] void fiberMain();

// Creates a fiber that calls fiberMain() when first switched to. `index` staggers the stacks over
// cache sets: stacks at equal offsets in their pages would compete for the same few. Throws
// std::bad_alloc.
Fiber* createFiber(unsigned index);

// Makes the fiber start from fiberMain() again, forgetting whatever it was doing. Not for the
// running fiber.
void resetFiber(Fiber* fiber);

void destroyFiber(Fiber* fiber);

// Tells AddressSanitizer, where it is present, that stacks change: before a switch, and after one.
// `previous` is the fiber that ran until then.
void beforeSwitch(void** sanitizerStack, const Fiber* to);
void afterSwitch(void* sanitizerStack, Fiber* previous);

// Ends the kernel if the stack of `fiber`, the running one, has overflowed.
void checkStack(const Fiber* fiber);
std::string stackOverflowMessage();

// Suspends `from`, the running fiber, and continues `to`. Returns when something switches back to
// `from`. In line, as are its callers: a barrier costs little else than calls and returns.
__attribute__((always_inline)) inline void switchFiber(Fiber* from, Fiber* to) {
    if (__builtin_expect(!from->guarded, 0)) checkStack(from);
    beforeSwitch(&from->sanitizerStack, to);
    void* previous = emuSwitchContext(&from->context, to->context, from);
    afterSwitch(from->sanitizerStack, static_cast<Fiber*>(previous));
}

// As switchFiber(), for a `from` that will never be continued, only reset.
[[noreturn]] void abandonFiber(Fiber* from, Fiber* to);

// AddressSanitizer, where it is present, reports accesses to [from, to). Undone by allowAccess().
void forbidAccess(const void* from, const void* to);
void allowAccess(const void* from, const void* to);

// The address lies in the gap below the fiber's stack.
bool isStackOverflow(const Fiber* fiber, const void* address);

#ifndef EMU_ADDRESS_SANITIZER
inline void beforeSwitch(void**, const Fiber*) {}
inline void afterSwitch(void*, Fiber*) {}
#endif

}  // namespace emu
