#include <cstdint>

#include "context.h"

#if !defined(EMU_UCONTEXT)

namespace {

// What emuSwitchContext() leaves on a stack.
#if defined(__x86_64__)

struct Frame {
    uint64_t r15, r14, r13, r12;
    void (*entry)(void*);  // rbx
    uint64_t rbp;
    void (*returnsTo)();
};

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
#elif defined(__aarch64__)

struct Frame {
    void (*entry)(void*);  // x19
    uint64_t x20, x21, x22, x23, x24, x25, x26, x27, x28, x29;
    void (*returnsTo)();  // x30
    double d8, d9, d10, d11, d12, d13, d14, d15;
};

asm(R"(
    .pushsection .text
    .globl emuSwitchContext
    .hidden emuSwitchContext
    .type emuSwitchContext, %function
    .p2align 4
emuSwitchContext:
    .cfi_startproc
    .cfi_remember_state
    sub sp, sp, #160        // the members of Frame
    .cfi_adjust_cfa_offset 160
    stp x19, x20, [sp]
    .cfi_rel_offset x19, 0
    .cfi_rel_offset x20, 8
    stp x21, x22, [sp, #16]
    .cfi_rel_offset x21, 16
    .cfi_rel_offset x22, 24
    stp x23, x24, [sp, #32]
    .cfi_rel_offset x23, 32
    .cfi_rel_offset x24, 40
    stp x25, x26, [sp, #48]
    .cfi_rel_offset x25, 48
    .cfi_rel_offset x26, 56
    stp x27, x28, [sp, #64]
    .cfi_rel_offset x27, 64
    .cfi_rel_offset x28, 72
    stp x29, x30, [sp, #80]
    .cfi_rel_offset x29, 80
    .cfi_rel_offset x30, 88
    stp d8, d9, [sp, #96]
    .cfi_rel_offset d8, 96
    .cfi_rel_offset d9, 104
    stp d10, d11, [sp, #112]
    .cfi_rel_offset d10, 112
    .cfi_rel_offset d11, 120
    stp d12, d13, [sp, #128]
    .cfi_rel_offset d12, 128
    .cfi_rel_offset d13, 136
    stp d14, d15, [sp, #144]
    .cfi_rel_offset d14, 144
    .cfi_rel_offset d15, 152

    mov x9, sp
    str x9, [x0]
    mov sp, x1

    ldp x19, x20, [sp]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    mov x0, x2
    add sp, sp, #160
    .cfi_restore_state
    ret
    .cfi_endproc
    .size emuSwitchContext, . - emuSwitchContext

    .globl emuStartContext
    .hidden emuStartContext
    .type emuStartContext, %function
emuStartContext:
    .cfi_startproc
    .cfi_undefined x30
    blr x19
    brk #1
    .cfi_endproc
    .size emuStartContext, . - emuStartContext
    .popsection
)");
#endif

}  // namespace

extern "C" void emuStartContext();

namespace emu {

Context makeContext(void* stackTop, size_t, void (*entry)(void*)) {
    const auto top = reinterpret_cast<uintptr_t>(stackTop);
    auto* frame = reinterpret_cast<Frame*>(top - top % 16) - 1;
    *frame = {};
    frame->entry = entry;
    frame->returnsTo = emuStartContext;
    return frame;
}

}  // namespace emu

#endif
