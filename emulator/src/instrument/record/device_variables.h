// Which variables of the program are the GPU's, and which the host's.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/program_symbols.h"

// Between these lie the __constant__ variables (emu/qualifiers.h); absent where there are none.
extern "C" {
extern const char __start_emu_constant[] __attribute__((weak));
extern const char __stop_emu_constant[] __attribute__((weak));
}

namespace emu {

inline bool isConstantVariable(uintptr_t address) {
    return address - reinterpret_cast<uintptr_t>(__start_emu_constant) <
           static_cast<uintptr_t>(__stop_emu_constant - __start_emu_constant);
}

// Among these addresses are the __device__ variables that the program has told of.
struct DeviceVariableRange {
    uintptr_t begin, size;
};
extern DeviceVariableRange deviceVariableRange;

// The __device__ variable that is there, as far as the program has told.
std::optional<Variable> deviceVariableAt(uintptr_t address);

// A __device__ or __constant__ variable may lie there. For hot paths.
inline bool maybeVariableOfDevice(uintptr_t address) {
    return address - deviceVariableRange.begin < deviceVariableRange.size ||
           isConstantVariable(address);
}

// A variable of the host is sure to lie there.
bool isHostVariable(uintptr_t address);

}  // namespace emu
