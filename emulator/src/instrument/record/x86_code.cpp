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

}  // namespace

const MachineCode x86Code = {kCallSize, 1, isCall, callTarget, jumpsAtEnd};

}  // namespace emu
