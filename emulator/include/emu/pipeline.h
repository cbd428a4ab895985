// Asynchronous copies from global to shared memory: __pipeline_memcpy_async() and its like.
//
// A GPU carries a copy out at some time before __pipeline_wait_prior() returns to the thread that
// began it. Here that is as late as possible, in that call: a program that does not wait, or not
// long enough, sees what the shared memory held before.
#pragma once

#include <cstddef>

#include "emu/engine.h"

namespace emu {

// The calling thread begins to copy `size` bytes, the last `zeros` of which are not read but zeros.
void asyncCopy(void* to, const void* from, size_t size, size_t zeros, const char* file, int line);
// What it has begun since the last call of this is a group.
void asyncCommit();
// Carries out its groups but the last `prior` ones.
void asyncWait(size_t prior);

}  // namespace emu

inline void __pipeline_memcpy_async(void* dst_shared, const void* src_global, size_t size_and_align,
                                    size_t zfill = 0, const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
    emu::asyncCopy(dst_shared, src_global, size_and_align, zfill, file, line);
}
inline void __pipeline_commit() {
    emu::asyncCommit();
}
inline void __pipeline_wait_prior(size_t prior) {
    emu::asyncWait(prior);
}
