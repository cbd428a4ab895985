// Instruction formats: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
// chapter 2.
#include "memory_operand.h"

#include <cstring>

namespace emu {

#ifdef __x86_64__

namespace {

uintptr_t registerOf(const ucontext_t& context, unsigned number) {
    constexpr greg_t kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<uintptr_t>(context.uc_mcontext.gregs[kOrder[number]]);
}

bool isPrefix(unsigned char byte) {
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3;
}

template <class T>
intptr_t signedAt(const unsigned char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
}

// The bits that extend the numbers of registers, set for 8 to 15.
struct Extensions {
    bool index = false, base = false;
};

}  // namespace

std::optional<MemoryOperand> memoryOperand(const ucontext_t& context) {
    const auto* at = reinterpret_cast<const unsigned char*>(context.uc_mcontext.gregs[REG_RIP]);
    Extensions extensions;
    bool vector = true;
    while (isPrefix(*at)) ++at;
    if (at[0] == 0xc5) {  // VEX, 2 bytes
        at += 2;
    } else if (at[0] == 0xc4) {  // VEX, 3 bytes
        extensions = {(at[1] & 0x40) == 0, (at[1] & 0x20) == 0};
        at += 3;
    } else {
        if (at[0] >> 4 == 4) {  // REX
            extensions = {(at[0] & 2) != 0, (at[0] & 1) != 0};
            ++at;
        }
        vector = at[0] == 0x0f;
        if (vector) ++at;
        if (vector && (at[0] == 0x38 || at[0] == 0x3a)) ++at;
    }
    ++at;  // the opcode
    const unsigned char modrm = *at++;
    const unsigned mode = modrm >> 6, memory = modrm & 7;
    if (mode == 3) return std::nullopt;                 // a register
    if (mode == 0 && memory == 5) return std::nullopt;  // relative to the instruction
    uintptr_t address = 0;
    bool hasBase = true;
    unsigned base = memory;
    if (memory == 4) {
        const unsigned char sib = *at++;
        const unsigned index = (sib >> 3 & 7) + (extensions.index ? 8 : 0);
        base = sib & 7;
        hasBase = !(mode == 0 && base == 5);
        if (index != 4) address += registerOf(context, index) << (sib >> 6);
    }
    if (hasBase) address += registerOf(context, base + (extensions.base ? 8 : 0));
    if (mode == 1) {
        address += static_cast<uintptr_t>(signedAt<int8_t>(at));
    } else if (mode == 2 || !hasBase) {
        address += static_cast<uintptr_t>(signedAt<int32_t>(at));
    }
    return MemoryOperand{address, vector};
}

#else

std::optional<MemoryOperand> memoryOperand(const ucontext_t&) {
    return std::nullopt;
}

#endif

}  // namespace emu
