// Who has written a value that the program has copied to the host: for messages about wrong
// results.
#pragma once

#include <cstddef>
#include <string>

namespace emu {

// Of the value of `bytes` bytes at `value`, in the host's memory: "thread (3,0,0) of block (1,0,0)
// wrote it, sum.cu:51". Empty where that is not known. The hazard check knows it of what the last
// launch has stored, as long as the same bytes are in device memory where they were copied from.
std::string writerOf(const void* value, std::size_t bytes);

}  // namespace emu
