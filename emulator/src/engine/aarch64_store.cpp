// Instruction formats: Arm Architecture Reference Manual for A-profile architecture, chapter C4.1,
// "A64 instruction set encoding", the tables of loads and stores.
#include "aarch64_store.h"

#include <algorithm>
#include <iterator>

namespace emu {
namespace {

struct Format {
    uint32_t mask, bits;
};

constexpr Format kStores[] = {
    {0x3ac00000, 0x38000000},  // a register
    {0xfec00000, 0x3c800000},  // a register of 128 bits
    {0x3a400000, 0x28000000},  // a pair of registers
    {0xbe400000, 0x0c000000},  // vectors, as structures
    {0x3f400000, 0x08000000},  // exclusive and ordered ones
    {0x3fe00c00, 0x19000000},  // ordered ones with an offset
    {0x3fa07c00, 0x08a07c00},  // compare and swap
    {0x3f200c00, 0x38200000},  // other atomic operations
    {0xffffffe0, 0xd50b7420},  // DC ZVA, which memset() uses
};

}  // namespace

bool isAArch64Store(uint32_t instruction) {
    return std::any_of(std::begin(kStores), std::end(kStores), [=](const Format& format) {
        return (instruction & format.mask) == format.bits;
    });
}

}  // namespace emu
