// What the instruction that a fault interrupted was about to reach, where the kernel does not say:
// on x86-64 alone.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <optional>

namespace emu {

struct MemoryOperand {
    uintptr_t address;
    bool mayBeVector;  // false: of an instruction that has no SSE or AVX registers
};

// Of the instruction at which `context` stands. Knows the common ones of x86-64; empty for others
// (those on strings, thread-local ones, AVX-512 ...), and elsewhere.
std::optional<MemoryOperand> memoryOperand(const ucontext_t& context);

}  // namespace emu
