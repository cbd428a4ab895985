// What fresh device memory holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace emu {

// The reason for the value is in emu/api/memory.h. Filling more would cost noticeable time, and
// memory for pages that the program may never touch.
constexpr uint32_t kPoison = 0xFEFACADE;
constexpr size_t kPoisonedBytes = size_t{16} << 20;

inline void poison(void* memory, size_t bytes) {
    char* bytePointer = static_cast<char*>(memory);
    size_t filled = 0;
    for (; filled + sizeof(kPoison) <= bytes; filled += sizeof(kPoison)) {
        std::memcpy(bytePointer + filled, &kPoison, sizeof(kPoison));
    }
    std::memcpy(bytePointer + filled, &kPoison, bytes - filled);
}

}  // namespace emu
