#include "context.h"

#ifdef EMU_UCONTEXT

#include <ucontext.h>

#include <cstdint>
#include <new>

namespace emu {
namespace {

// Lies on the stack that it continues.
struct Suspended {
    ucontext_t registers;
    void (*entry)(void*);
    void* data;  // what continues it hands over
};

// makecontext() hands over nothing but ints.
void enter(unsigned high, unsigned low) {
    const uint64_t address = static_cast<uint64_t>(high) << 32 | low;
    const auto* self = reinterpret_cast<Suspended*>(static_cast<uintptr_t>(address));
    self->entry(self->data);
}

}  // namespace

Context makeContext(void* stackTop, size_t size, void (*entry)(void*)) {
    const auto top = reinterpret_cast<uintptr_t>(stackTop) - sizeof(Suspended);
    const uintptr_t place = top - top % alignof(Suspended);
    const uintptr_t bottom = reinterpret_cast<uintptr_t>(stackTop) - size;
    auto* self = new (reinterpret_cast<void*>(place)) Suspended;
    getcontext(&self->registers);
    self->registers.uc_stack.ss_sp = reinterpret_cast<void*>(bottom);
    self->registers.uc_stack.ss_size = place - bottom;
    self->registers.uc_link = nullptr;
    self->entry = entry;
    const auto address = static_cast<uint64_t>(place);
    makecontext(&self->registers, reinterpret_cast<void (*)()>(enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
    return self;
}

void* emuSwitchContext(Context* from, Context to, void* data) {
    Suspended self;
    *from = &self;
    auto* next = static_cast<Suspended*>(to);
    next->data = data;
    swapcontext(&self.registers, &next->registers);
    return self.data;
}

}  // namespace emu

#endif
