// cooperative_groups::memcpy_async() and wait(): the copy is done by the threads of the group.
#pragma once

#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC

#include <cooperative_groups.h>

namespace cooperative_groups {

// Copies `bytes`, all threads of the group together. Nothing may be read before wait().
template <class Group, class T>
void memcpy_async(const Group& group, T* destination, const T* source, size_t bytes) {
    auto* to = reinterpret_cast<unsigned char*>(destination);
    const auto* from = reinterpret_cast<const unsigned char*>(source);
    for (size_t i = group.thread_rank(); i < bytes; i += group.size()) to[i] = from[i];
}

template <class Group>
void wait(const Group& group, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    group.sync(file, line);
}

// Waits for all but the last `Stages` copies; here for all of them.
template <unsigned Stages, class Group>
void wait_prior(const Group& group, const char* file = __builtin_FILE(),
                int line = __builtin_LINE()) {
    group.sync(file, line);
}

}  // namespace cooperative_groups
