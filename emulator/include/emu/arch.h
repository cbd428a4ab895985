// What stands for __CUDA_ARCH__ in `__host__ __device__` functions: see translator/arch.py.
#pragma once

namespace emu {

// The caller is a CUDA thread, that is, code of a kernel.
bool inDevice();

// The same, for functions that may be evaluated at compile time: there it is the host's.
constexpr bool onDevice() {
    return !__builtin_is_constant_evaluated() && inDevice();
}

}  // namespace emu
