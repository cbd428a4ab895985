// Types of 16 bytes that a GPU loads and stores at once, at multiples of 16 alone: float4, double2
// and their like. GCC's hooks tell no difference between these and structs of 8-byte members.
#pragma once

#include <cstdint>

namespace emu {

// Whether the function that begins at `function` names such a type, in its own name or in its
// source up to `pc`: then an access of 16 bytes there is taken for one of these.
bool namesQuad(uintptr_t function, uintptr_t pc);

}  // namespace emu
