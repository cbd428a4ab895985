// Instruction formats: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
// appendix A.
#include <cstring>

#include "machine_code.h"

namespace emu {
namespace {

constexpr uint8_t kCall = 0xe8;  // with a 32-bit offset
constexpr uint32_t kCallSize = 5;

uint32_t offsetAt(const uint8_t* code) {
    uint32_t offset;
    std::memcpy(&offset, code, sizeof(offset));
    return offset;
}

bool isCall(const uint8_t* code, uint32_t place) {
    return code[place] == kCall;
}

uint32_t callTarget(const uint8_t* code, uint32_t place) {
    return place + kCallSize + offsetAt(code + place + 1);
}

std::vector<ConditionalJump> jumpsAtEnd(const uint8_t* code, uint32_t begin, uint32_t end) {
    std::vector<ConditionalJump> jumps;
    for (const uint32_t last : {end, end - 2, end - 5}) {
        if (last < begin + 2 || last > end) continue;
        if (last == end - 2 && code[last] != 0xeb) continue;
        if (last == end - 5 && code[last] != 0xe9) continue;
        if ((code[last - 2] & 0xf0) == 0x70) {
            const auto offset = static_cast<int8_t>(code[last - 1]);
            jumps.push_back({last + static_cast<uint32_t>(offset), false});
        }
        if (last >= begin + 6 && code[last - 6] == 0x0f && (code[last - 5] & 0xf0) == 0x80) {
            jumps.push_back({last + offsetAt(code + last - 4), false});
        }
    }
    return jumps;
}

// With the conversion of what is compared to 64 bits.
uint32_t comparisonSize(const uint8_t* end) {
    constexpr uint8_t kWide = 0x48, kPrefix = 0xf8;  // REX.W, whatever the register
    constexpr uint32_t kConversion = 3;              // MOVSXD, or MOV from another register
    if ((end[-4] & kPrefix) == kWide && end[-3] == 0x83) return 4 + kConversion;
    if (end[-6] == kWide && end[-5] == 0x3d) return 6 + kConversion;
    if ((end[-7] & kPrefix) == kWide && end[-6] == 0x81) return 7 + kConversion;
    return 3;  // of two registers
}

uint32_t checkSize(const uint8_t* code, uint32_t place) {
    constexpr uint32_t kJumpSize = 2, kFurthest = 40;
    const uint32_t end = place + kCallSize;
    for (uint32_t jump = place - kJumpSize; jump < place && place - jump < kFurthest; --jump) {
        const auto offset = static_cast<int8_t>(code[jump + 1]);
        if ((code[jump] & 0xf0) == 0x70 &&
            jump + kJumpSize + static_cast<uint32_t>(offset) == end) {
            return end - jump + comparisonSize(code + jump);
        }
    }
    return kCallSize;
}

}  // namespace

const MachineCode x86Code = {kCallSize, 1, isCall, callTarget, jumpsAtEnd, checkSize};

}  // namespace emu
