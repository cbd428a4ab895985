// What the hazard check holds of two accesses to one word, in shared and in global memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "instrument/record/recorder.h"

namespace emu {

constexpr size_t kWordBytes = 4;

// The bytes of the word at `word` that lie in [begin, end): bit i for byte i.
inline unsigned bytesOfWord(uintptr_t word, uintptr_t begin, uintptr_t end) {
    unsigned bytes = 0;
    for (unsigned i = 0; i < kWordBytes; ++i) {
        if (word + i >= begin && word + i < end) bytes |= 1u << i;
    }
    return bytes;
}

// Whether two values of a word are equal in these bytes.
inline bool sameBytes(uint32_t a, uint32_t b, unsigned bytes) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < kWordBytes; ++i) {
        if (bytes >> i & 1) mask |= 0xffu << 8 * i;
    }
    return ((a ^ b) & mask) == 0;
}

// Neither access writes, or both go through the memory as synchronisation does.
inline bool harmlessTogether(AccessKind a, bool aIsVolatile, AccessKind b, bool bIsVolatile,
                             bool sameWarp) {
    if (a == AccessKind::Load && b == AccessKind::Load) return true;
    const bool atomic = a == AccessKind::Atomic, otherAtomic = b == AccessKind::Atomic;
    if (atomic && otherAtomic) return true;
    if ((aIsVolatile && otherAtomic) || (bIsVolatile && atomic)) return true;
    // Threads watch for one another through volatile variables. Within a warp such code relies on
    // lanes in lockstep, which GPUs since Volta do not promise.
    return aIsVolatile && bIsVolatile && !sameWarp;
}

}  // namespace emu
