// What fresh device memory holds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

// The reason for the value is in emu/api/memory.h. Filling more would cost noticeable time, and
// memory for pages that the program may never touch.
constexpr uint32_t kPoison = 0xFEFACADE;
constexpr size_t kPoisonedBytes = size_t{16} << 20;

}  // namespace emu
