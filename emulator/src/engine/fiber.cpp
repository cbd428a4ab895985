#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#ifdef EMU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emu {
namespace {

namespace ctx = boost::context::detail;

size_t pageSize() {
    static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

// A guard page makes two mappings of a stack, and Linux gives a process 65,530 (vm.max_map_count):
// less than 32 multiprocessors need with 1024 threads each. Stacks without one merge into few.
constexpr int kMostGuarded = 24 * 1024;
std::atomic<int> fibersAlive = 0;

// The first frame of every fiber.
void enterFiber(ctx::transfer_t transfer) {
    auto* previous = static_cast<Fiber*>(transfer.data);
    previous->context = transfer.fctx;
    afterSwitch(nullptr, previous);
    fiberMain();
}

}  // namespace

Fiber* createFiber(unsigned index) {
    auto* fiber = new Fiber;
    const size_t guard = pageSize();
    void* memory = mmap(nullptr, guard + kFiberStackSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        delete fiber;
        throw std::bad_alloc();
    }
    // Without a guard page the fiber still works; only an overflow goes unnoticed.
    if (fibersAlive++ < kMostGuarded) (void)mprotect(memory, guard, PROT_NONE);
    fiber->stackBottom = static_cast<char*>(memory) + guard;
    fiber->stackSize = kFiberStackSize;
    fiber->index = index;
    resetFiber(fiber);
    return fiber;
}

void resetFiber(Fiber* fiber) {
    allowAccess(fiber->stackBottom, static_cast<char*>(fiber->stackBottom) + fiber->stackSize);
    constexpr size_t kCacheLine = 64;
    constexpr size_t kStaggerRange = 8192;
    const size_t stagger = fiber->index * 5 * kCacheLine % kStaggerRange;
    char* top = static_cast<char*>(fiber->stackBottom) + fiber->stackSize - stagger;
    fiber->context = ctx::make_fcontext(top, fiber->stackSize - kStaggerRange, enterFiber);
    fiber->wait = Wait::None;
}

void destroyFiber(Fiber* fiber) {
    munmap(static_cast<char*>(fiber->stackBottom) - pageSize(), pageSize() + fiber->stackSize);
    --fibersAlive;
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
    ctx::jump_fcontext(to->context, from);
    __builtin_unreachable();
}

bool isStackOverflow(const Fiber* fiber, const void* address) {
    const auto* byte = static_cast<const char*>(address);
    const auto* bottom = static_cast<const char*>(fiber->stackBottom);
    return byte < bottom && byte >= bottom - pageSize();
}

}  // namespace emu
