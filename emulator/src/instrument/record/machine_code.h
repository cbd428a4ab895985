// What the profiler reads of a program's machine code, and the two architectures of which it does.
// All of it is said of bytes at places in the code, so that either can be read on any machine.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

struct ConditionalJump {
    uint32_t target;
    bool jumpsIfTrue;  // where the source's condition holds, although it leads forward
};

struct MachineCode {
    uint32_t callSize;   // [bytes] of the instruction that calls a function at a known place
    uint32_t alignment;  // [bytes] of instructions

    // Whether that instruction stands at `place`; and to which place it goes.
    bool (*isCall)(const uint8_t* code, uint32_t place);
    uint32_t (*callTarget)(const uint8_t* code, uint32_t place);

    // What the end of [begin, end) may be: a conditional jump, alone or before an unconditional
    // one. The likeliest first, where bytes can be read in several ways.
    std::vector<ConditionalJump> (*jumpsAtEnd)(const uint8_t* code, uint32_t begin, uint32_t end);

    // The size of a comparison, a jump over the call at `place`, and that [bytes].
    uint32_t (*checkSize)(const uint8_t* code, uint32_t place);
};

extern const MachineCode x86Code;
extern const MachineCode aarch64Code;

}  // namespace emu
