#include "fiber.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "messages.h"
#include "out_of_memory.h"
#include "scheduler.h"

#ifdef EMU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emu {
namespace {

// The first frame of every fiber.
void enterFiber(void* previous) {
    afterSwitch(nullptr, static_cast<Fiber*>(previous));
    fiberMain();
}

}  // namespace

Fiber* createFiber(unsigned index) {
    const Stack stack = takeStack();
    if (stack.bottom == nullptr) quitWithoutMemory("the stacks of its CUDA threads");
    auto* fiber = new Fiber;
    fiber->stackBottom = stack.bottom;
    fiber->stackSize = kFiberStackSize;
    fiber->guarded = stack.guarded;
    fiber->index = index;
    resetFiber(fiber);
    return fiber;
}

void resetFiber(Fiber* fiber) {
    if (!fiber->guarded) {  // zeroes, for checkStack()
        (void)madvise(fiber->stackBottom, pageSize(), MADV_DONTNEED);
    }
    allowAccess(fiber->stackBottom, static_cast<char*>(fiber->stackBottom) + fiber->stackSize);
    constexpr size_t kCacheLine = 64;
    constexpr size_t kStaggerRange = 8192;
    const size_t stagger = fiber->index * 5 * kCacheLine % kStaggerRange;
    char* top = static_cast<char*>(fiber->stackBottom) + fiber->stackSize - stagger;
    fiber->context = makeContext(top, fiber->stackSize - kStaggerRange, enterFiber);
    fiber->wait = Wait::None;
}

void destroyFiber(Fiber* fiber) {
    giveBackStack({static_cast<char*>(fiber->stackBottom), fiber->guarded});
    delete fiber;
}

#ifdef EMU_ADDRESS_SANITIZER
void beforeSwitch(void** sanitizerStack, const Fiber* to) {
    __sanitizer_start_switch_fiber(sanitizerStack, to->stackBottom, to->stackSize);
}

void afterSwitch(void* sanitizerStack, Fiber* previous) {
    const void* bottom = nullptr;
    size_t size = 0;
    __sanitizer_finish_switch_fiber(sanitizerStack, &bottom, &size);
    if (previous->stackBottom == nullptr) {  // an OS thread's own stack
        previous->stackBottom = const_cast<void*>(bottom);
        previous->stackSize = size;
    }
}
#endif

void forbidAccess([[maybe_unused]] const void* from, [[maybe_unused]] const void* to) {
#ifdef EMU_ADDRESS_SANITIZER
    const auto bytes = static_cast<const char*>(to) - static_cast<const char*>(from);
    __asan_poison_memory_region(from, static_cast<size_t>(bytes));
#endif
}

void allowAccess([[maybe_unused]] const void* from, [[maybe_unused]] const void* to) {
#ifdef EMU_ADDRESS_SANITIZER
    const auto bytes = static_cast<const char*>(to) - static_cast<const char*>(from);
    __asan_unpoison_memory_region(from, static_cast<size_t>(bytes));
#endif
}

void abandonFiber(Fiber* from, Fiber* to) {
    beforeSwitch(nullptr, to);
    emuSwitchContext(&from->context, to->context, from);
    __builtin_unreachable();
}

// Nothing else writes to the lowest page: no thread that gets that far has much left.
void checkStack(const Fiber* fiber) {
    const auto* words = static_cast<const uint64_t*>(fiber->stackBottom);
    const bool untouched = std::all_of(words, words + pageSize() / sizeof(*words),
                                       [](uint64_t word) { return word == 0; });
    if (!untouched) failKernel(cudaErrorIllegalAddress, stackOverflowMessage());
}

std::string stackOverflowMessage() {
    return format(
        "stack overflow: a CUDA thread has %zu KiB here for its local variables and calls",
        kFiberStackSize / 1024);
}

bool isStackOverflow(const Fiber* fiber, const void* address) {
    const auto* byte = static_cast<const char*>(address);
    const auto* bottom = static_cast<const char*>(fiber->stackBottom);
    return byte < bottom && byte >= bottom - kStackGap;
}

}  // namespace emu
