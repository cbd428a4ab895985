// The symbol table of the running program. It is there unless the program was stripped, and knows
// what the language cannot tell: the static shared memory of a kernel, and the size of a variable
// of which only the address is known.
#pragma once

#include <cstddef>
#include <optional>

namespace emu {

// Static shared memory of a kernel [bytes]: the sizes of its thread_local variables, which is what
// __shared__ becomes. 0 if the table does not know the kernel.
size_t staticSharedOf(const void* kernel);

struct Variable {
    const void* base;
    size_t size;  // bytes
};

// The variable that `address` lies in; empty if the table knows none.
std::optional<Variable> variableAt(const void* address);

// What memory of the program's image `address` lies in.
enum class ImagePart { None, Code, Constant, Writable };
ImagePart imagePartOf(const void* address);

}  // namespace emu
