// The symbol table of the running program. It is there unless the program was stripped, and knows
// what the language cannot tell: the static shared memory of a kernel, and the size of a variable
// of which only the address is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace emu {

// Static shared memory of a kernel [bytes]: the sizes of its thread_local variables, which is what
// __shared__ becomes. 0 if the table does not know the kernel.
size_t staticSharedOf(const void* kernel);

// What __launch_bounds__() promises the compiler of a kernel: threads of its blocks, at most. The
// translator has put it into a variable of the kernel. Where `kernel` is not known, but the text of
// its launch: what all kernels of the name promise, if that is one number. kMaxThreadsPerBlock if
// there is no such promise.
int launchBoundsOf(const void* kernel, const char* launched);
// In a program where some kernel promises: the translator has defined this. Else it is no address.
extern "C" const char emuHasLaunchBounds __attribute__((weak));

// A function's name as in C++, with its parameters' types; empty if the table does not know it.
std::string functionName(const void* function);

// Whether a launch of `name`, as "fill", may mean `function`, as "void n::fill<int>(int*)".
bool isCalled(const std::string& function, const std::string& name);

// What people call a kernel: `launched`, the text of its launch; where that is no name ("(a kernel
// launched through ...)"), the function's without its parameters, as far as the table knows it.
std::string kernelName(const char* launched, const void* kernel);

struct Variable {
    const void* base;
    size_t size;  // bytes
};

// The variable that `address` lies in; empty if the table knows none.
std::optional<Variable> variableAt(const void* address);

// Its name, mangled where it is in a namespace, a class or a function; empty if the table knows
// none.
std::string variableSymbol(const void* address);

// A thread_local variable of the program.
struct ThreadLocal {
    std::string name;    // mangled
    size_t begin, size;  // bytes; `begin` counts from the start of the program's thread-local block
};

// Those of a kernel: its __shared__ variables.
std::vector<ThreadLocal> sharedVariablesOf(const void* kernel);

// Whether a variable is declared in the function that begins at `function`.
bool isVariableOf(const ThreadLocal& variable, uintptr_t function);

// The block of the calling OS thread that holds the program's own thread_local variables: the
// shared memory of the block that it runs, and the emulator's.
Variable threadLocals();

// The thread_local variable at `offset` bytes of that block; empty if the table knows none.
std::optional<ThreadLocal> threadLocalAt(size_t offset);

// Where the function begins that `address` lies in or behind; 0 if the table knows none.
uintptr_t functionAround(uintptr_t address);

// "name+offset" of the function that `address` lies in or behind, for people to read.
std::string symbolAt(const void* address);

// How far the program was moved from the addresses in its file (position-independent executables).
uintptr_t loadBias();

// `symbol` as in the source; itself if it is not mangled.
std::string demangled(const std::string& symbol);

// What memory of the program's image `address` lies in.
enum class ImagePart { None, Code, Constant, Writable };
ImagePart imagePartOf(const void* address);

}  // namespace emu
