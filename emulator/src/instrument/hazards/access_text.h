// What a thread does to memory, in words.
#pragma once

#include "instrument/record/recorder.h"
#include "past_work.h"

namespace emu {

inline const char* verb(AccessKind kind) {
    switch (kind) {
        case AccessKind::Load:
            return "reads";
        case AccessKind::Store:
            return "writes";
        case AccessKind::Atomic:
            break;
    }
    return "updates it atomically";
}

constexpr const char* kNarrowScope = "an atomic of block scope, used by several blocks";
constexpr const char* kNullPointer = "a null pointer is used";

// The same of an asynchronous copy.
constexpr const char* kCopiesThere = "copies there asynchronously";
constexpr const char* kCopiesForBarrier = "copies there asynchronously, for a barrier";
constexpr const char* kStoresInBulk = "stores from there in bulk";
constexpr const char* kCopiesFromThere = "copies from there asynchronously";

// What a call of the host does with a __device__ variable, of which it has the host's address.
constexpr const char* kCopyByAddress = "passes its address to a copy or a fill";

inline const char* nounFor(Doer doer) {
    if (doer == Doer::Copy) return "copy";
    return doer == Doer::Fill ? "fill" : "kernel";
}

// Of two accesses that race.
inline const char* raceKind(AccessKind first, AccessKind second) {
    if ((first == AccessKind::Atomic) != (second == AccessKind::Atomic)) {
        return "atomic and plain access";
    }
    if (second == AccessKind::Load) return "read after write";
    return first == AccessKind::Load ? "write after read" : "write after write";
}

}  // namespace emu
