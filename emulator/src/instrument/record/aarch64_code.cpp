// Instruction formats: Arm Architecture Reference Manual for A-profile architecture, chapter C4.1,
// "A64 instruction set encoding".
#include <cstring>

#include "machine_code.h"

namespace emu {
namespace {

constexpr uint32_t kSize = 4;  // of every instruction [bytes]

struct Format {
    uint32_t mask, bits;            // those that make an instruction one of this form
    unsigned offsetAt, offsetBits;  // of a jump, in instructions
};

constexpr Format kCall = {0xfc000000, 0x94000000, 0, 26};    // BL
constexpr Format kJump = {0xfc000000, 0x14000000, 0, 26};    // B
constexpr Format kCompare = {0xff20fc07, 0x1e202000, 0, 0};  // FCMP, FCMPE
constexpr Format kConditional[] = {
    {0xff000010, 0x54000000, 5, 19},  // B.cond
    {0x7e000000, 0x34000000, 5, 19},  // CBZ, CBNZ
    {0x7e000000, 0x36000000, 5, 14},  // TBZ, TBNZ
};

uint32_t instructionAt(const uint8_t* code, uint32_t place) {
    uint32_t instruction;
    std::memcpy(&instruction, code + place, sizeof(instruction));
    return instruction;
}

bool has(uint32_t instruction, const Format& format) {
    return (instruction & format.mask) == format.bits;
}

uint32_t targetOf(uint32_t instruction, const Format& format, uint32_t place) {
    const unsigned unused = 32 - format.offsetBits;
    const auto high = static_cast<int32_t>(instruction << (unused - format.offsetAt));
    return place + static_cast<uint32_t>(high >> unused) * kSize;
}

bool isCall(const uint8_t* code, uint32_t place) {
    return has(instructionAt(code, place), kCall);
}

uint32_t callTarget(const uint8_t* code, uint32_t place) {
    return targetOf(instructionAt(code, place), kCall, place);
}

// Of a comparison of floating-point numbers compilers do not make the opposite, which would have to
// hold for NaN as well: they jump over an unconditional jump to what the condition guards.
std::vector<ConditionalJump> jumpsAtEnd(const uint8_t* code, uint32_t begin, uint32_t end) {
    if (end < begin + kSize) return {};
    uint32_t place = end - kSize;
    const bool beforeJump = has(instructionAt(code, place), kJump);
    if (beforeJump) place -= kSize;
    if (place < begin || place > end) return {};
    const uint32_t instruction = instructionAt(code, place);
    for (const Format& format : kConditional) {
        if (!has(instruction, format)) continue;
        const bool ofNumbers = beforeJump && place >= begin + kSize &&
                               has(instructionAt(code, place - kSize), kCompare);
        return {{targetOf(instruction, format, place), ofNumbers}};
    }
    return {};
}

uint32_t checkSize(const uint8_t* code, uint32_t place) {
    constexpr uint32_t kFurthest = 16 * kSize;
    const uint32_t end = place + kSize;
    for (uint32_t jump = place - kSize; jump < place && place - jump < kFurthest; jump -= kSize) {
        const uint32_t instruction = instructionAt(code, jump);
        if (has(instruction, kConditional[0]) &&
            targetOf(instruction, kConditional[0], jump) == end) {
            return end - jump + kSize;
        }
    }
    return kSize;
}

}  // namespace

const MachineCode aarch64Code = {kSize, kSize, isCall, callTarget, jumpsAtEnd, checkSize};

}  // namespace emu
