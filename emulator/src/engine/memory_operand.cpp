// Instruction formats: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
// chapter 2 and appendix A.
#include "memory_operand.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace emu {

#ifdef __x86_64__

namespace {

uintptr_t registerOf(const ucontext_t& context, unsigned number) {
    constexpr greg_t kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<uintptr_t>(context.uc_mcontext.gregs[kOrder[number]]);
}

// Those after which an operand is where it is without them.
bool isPrefix(unsigned char byte) {
    return byte == 0x66 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

struct Range {
    unsigned char first, last;
};

template <size_t n>
bool isIn(const Range (&ranges)[n], unsigned char byte) {
    return std::any_of(std::begin(ranges), std::end(ranges), [byte](const Range& range) {
        return range.first <= byte && byte <= range.last;
    });
}

// The tables of opcodes, by what comes before an opcode.
enum Map : unsigned { kOneByte, k0f, k0f38, k0f3a };

// Whether an operand is told by the bytes behind the opcode (ModRM, SIB, a displacement), as the
// manual's tables have it, and by general registers.
bool tellsOperand(unsigned map, unsigned char opcode) {
    constexpr Range kOneByteDo[] = {{0x63, 0x63}, {0x69, 0x69}, {0x6b, 0x6b}, {0x80, 0x81},
                                    {0x83, 0x8b}, {0xc0, 0xc1}, {0xc6, 0xc7}, {0xd0, 0xd3},
                                    {0xd8, 0xdf}, {0xf6, 0xf7}, {0xfe, 0xff}};
    constexpr Range k0fDoNot[] = {{0x00, 0x0f}, {0x30, 0x37}, {0x77, 0x77}, {0x80, 0x8f},
                                  {0xa0, 0xa2}, {0xa8, 0xaa}, {0xc8, 0xcf}};
    constexpr Range kGathers[] = {{0x90, 0x93}};  // many addresses, from a vector register
    switch (map) {
        case kOneByte:
            return opcode < 0x40 ? (opcode & 4) == 0 : isIn(kOneByteDo, opcode);
        case k0f:
            return !isIn(k0fDoNot, opcode);
        case k0f38:
            return !isIn(kGathers, opcode);
        default:
            return map == k0f3a;
    }
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
    unsigned map = kOneByte;
    while (isPrefix(*at)) ++at;
    if (at[0] == 0xc5) {  // VEX, 2 bytes
        map = k0f;
        at += 2;
    } else if (at[0] == 0xc4) {  // VEX, 3 bytes
        extensions = {(at[1] & 0x40) == 0, (at[1] & 0x20) == 0};
        map = at[1] & 0x1f;
        at += 3;
    } else {
        if (at[0] >> 4 == 4) {  // REX
            extensions = {(at[0] & 2) != 0, (at[0] & 1) != 0};
            ++at;
        }
        if (at[0] == 0x0f) {
            map = at[1] == 0x38 ? k0f38 : at[1] == 0x3a ? k0f3a : k0f;
            at += map == k0f ? 1 : 2;
        }
    }
    if (!tellsOperand(map, *at++)) return std::nullopt;
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
    return MemoryOperand{address, map != kOneByte};
}

#else

std::optional<MemoryOperand> memoryOperand(const ucontext_t&) {
    return std::nullopt;
}

#endif

}  // namespace emu
