// How much memory the emulated device has: that of the host, which it shares with the program.
#pragma once

#include <cstddef>

namespace emu {

size_t totalMemory();  // bytes

// What can be allocated now [bytes], where so many bytes were allocated before that still wait for
// their first write: until then the host does not miss them.
size_t freeMemory(size_t unwritten);

// Bytes of an allocation that nothing was written to yet, in whole pages.
size_t unwrittenBytes(const void* memory, size_t size);

}  // namespace emu
