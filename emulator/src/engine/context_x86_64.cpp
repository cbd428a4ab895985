#include <cstdint>

#include "context.h"

#if defined(__x86_64__) && !defined(EMU_UCONTEXT)

asm(R"(
    .pushsection .text
    .globl emuSwitchContext
    .hidden emuSwitchContext
    .type emuSwitchContext, @function
    .p2align 4
emuSwitchContext:
    .cfi_startproc
    .cfi_remember_state
    subq $48, %rsp          # the registers of Frame
    .cfi_adjust_cfa_offset 48
    movq %r15, (%rsp)
    .cfi_rel_offset %r15, 0
    movq %r14, 8(%rsp)
    .cfi_rel_offset %r14, 8
    movq %r13, 16(%rsp)
    .cfi_rel_offset %r13, 16
    movq %r12, 24(%rsp)
    .cfi_rel_offset %r12, 24
    movq %rbx, 32(%rsp)
    .cfi_rel_offset %rbx, 32
    movq %rbp, 40(%rsp)
    .cfi_rel_offset %rbp, 40

    movq %rsp, (%rdi)
    movq %rsi, %rsp

    movq (%rsp), %r15
    movq 8(%rsp), %r14
    movq 16(%rsp), %r13
    movq 24(%rsp), %r12
    movq 32(%rsp), %rbx
    movq 40(%rsp), %rbp
    movq %rdx, %rax
    addq $48, %rsp
    .cfi_restore_state
    ret
    .cfi_endproc
    .size emuSwitchContext, . - emuSwitchContext

    .globl emuStartContext
    .hidden emuStartContext
    .type emuStartContext, @function
emuStartContext:
    .cfi_startproc
    .cfi_undefined %rip
    movq %rax, %rdi
    callq *%rbx
    ud2
    .cfi_endproc
    .size emuStartContext, . - emuStartContext
    .popsection
)");

namespace emu {

extern "C" void emuStartContext();

namespace {

struct Frame {
    uint64_t r15, r14, r13, r12, rbx, rbp;
    void (*returnsTo)();
};

}  // namespace

Context makeContext(void* stackTop, size_t, void (*entry)(void*)) {
    const auto top = reinterpret_cast<uintptr_t>(stackTop);
    auto* frame = reinterpret_cast<Frame*>(top - top % 16) - 1;
    *frame = {};
    frame->rbx = reinterpret_cast<uint64_t>(entry);
    frame->returnsTo = emuStartContext;
    return frame;
}

}  // namespace emu

#endif
