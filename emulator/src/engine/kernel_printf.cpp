// printf() of the whole program, and what compilers make of it. In a kernel it may meet a wild
// pointer behind a %s, and the fault leaves it for good: so there the text is made before stdout is
// locked. (Without malloc() where that can be: a kernel that writes out of bounds may have spoilt
// the heap.)

#undef _FORTIFY_SOURCE  // with which <cstdio> defines printf() itself
#undef __OPTIMIZE__     // with which it defines putchar()
#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "out_of_memory.h"
#include "scheduler.h"
#include "watcher.h"

namespace emu {
namespace {

// Where kernels print: where the host does or, so that both can be told apart, to a file of their
// own.
std::FILE* kernelOutput() {
    static std::FILE* const output = [] {
        const char* const path = std::getenv("CUDA_EMULATOR_PRINTF");
        std::FILE* const own = path != nullptr ? std::fopen(path, "w") : nullptr;
        return own != nullptr ? own : stdout;
    }();
    return output;
}

__attribute__((format(printf, 1, 0))) int printInKernel(const char* pattern, va_list arguments) {
    std::array<char, 1024> text;
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(text.data(), text.size(), pattern, arguments);
    const auto size = static_cast<size_t>(std::max(length, 0));
    if (size < text.size()) {
        std::fwrite(text.data(), 1, size, kernelOutput());
    } else if (auto* const longText = static_cast<char*>(std::malloc(size + 1))) {
        std::vsnprintf(longText, size + 1, pattern, again);
        std::fwrite(longText, 1, size, kernelOutput());
        std::free(longText);
    } else {
        quitWithoutMemory("the text of a printf()");
    }
    va_end(again);
    if (watcher != nullptr) watcher->kernelPrinted(size);
    return length;
}

__attribute__((format(printf, 1, 0))) int print(const char* pattern, va_list arguments) {
    return inDevice() ? printInKernel(pattern, arguments) : std::vprintf(pattern, arguments);
}

__attribute__((format(printf, 1, 2))) int printArguments(const char* pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    const int length = print(pattern, arguments);
    va_end(arguments);
    return length;
}

}  // namespace
}  // namespace emu

extern "C" int printf(const char* pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    const int length = emu::print(pattern, arguments);
    va_end(arguments);
    return length;
}

// What glibc makes of it in optimised programs.
extern "C" int __printf_chk(int, const char* pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    const int length = emu::print(pattern, arguments);
    va_end(arguments);
    return length;
}

// What compilers make of printf("text\n") and printf("c"), without optimisation, too.
extern "C" int puts(const char* text) {
    if (emu::inDevice()) return emu::printArguments("%s\n", text);
    flockfile(stdout);
    const bool failed = std::fputs(text, stdout) == EOF || std::fputc('\n', stdout) == EOF;
    funlockfile(stdout);
    return failed ? EOF : 1;
}
extern "C" int putchar(int character) {
    if (emu::inDevice()) return emu::printArguments("%c", character);
    return std::fputc(character, stdout);
}
