// What fresh device memory holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device_settings.h"
#include "guarded_memory.h"

namespace emu {

// The reason for the value is in emu/api/memory.h. Filling more would cost noticeable time, and
// memory for pages that the program may never touch.
constexpr uint32_t kPoison = 0xFEFACADE;
constexpr size_t kPoisonedBytes = size_t{16} << 20;

inline void fillWords(void* memory, size_t bytes, uint32_t word) {
    char* bytePointer = static_cast<char*>(memory);
    size_t filled = 0;
    for (; filled + sizeof(word) <= bytes; filled += sizeof(word)) {
        std::memcpy(bytePointer + filled, &word, sizeof(word));
    }
    std::memcpy(bytePointer + filled, &word, bytes - filled);
}

inline void poison(void* memory, size_t bytes) {
    fillWords(memory, bytes, kPoison);
}

// Fresh memory has the pattern: the hazard check tells by it that nobody has written unseen, and
// without it CUDA_EMULATOR_FRESH may want zeros.
inline bool freshIsPoison() {
    return guardAllocations || !deviceSettings().freshIsZero;
}

// Whether these bytes of an allocation, or of a copy of them at `memory`, are what fillFresh()
// left.
inline bool isFresh(const void* memory, size_t offset, size_t size) {
    const auto* const bytes = static_cast<const unsigned char*>(memory);
    for (size_t i = 0; i < size; ++i) {
        const size_t shift = (offset + i) % sizeof(kPoison) * 8;  // little endian
        const auto expected =
            offset + i < kPoisonedBytes ? static_cast<unsigned char>(kPoison >> shift) : 0;
        if (bytes[i] != expected) return false;
    }
    return true;
}

inline void fillFresh(void* memory, size_t bytes) {
    fillWords(memory, std::min(bytes, kPoisonedBytes), freshIsPoison() ? kPoison : 0);
}

}  // namespace emu
