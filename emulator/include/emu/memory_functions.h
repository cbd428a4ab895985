// Lets the profiler and the hazard check see memcpy() and its like, in programs that are
// compiled for them: by whatever name they are called, also through pointers and by templates of
// the standard library. Comes before the library's headers.
#pragma once

#include <stddef.h>

// The hooks of instrument/record/hooks.cpp, which carry out the operation, too.
extern "C" {
void* __tsan_memcpy(void* to, const void* from, size_t bytes) noexcept;
void* __tsan_memmove(void* to, const void* from, size_t bytes) noexcept;
void* __tsan_memset(void* to, int value, size_t bytes) noexcept;
int emu_memcmp(const void* a, const void* b, size_t bytes) noexcept;

// To the linker these are the library's names. (The compiler leaves these calls alone:
// -fno-builtin-memcpy and its like. Of memcmp() g++ takes the name for __builtin_memcmp(), too,
// which must stay the compiler's, for constant expressions. Copies of structs that it makes a call
// of have hooks already, and go on to the library.)
void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) noexcept
    __asm__("__tsan_memcpy");
void* memmove(void* to, const void* from, size_t bytes) noexcept __asm__("__tsan_memmove");
void* memset(void* to, int value, size_t bytes) noexcept __asm__("__tsan_memset");
int memcmp(const void* a, const void* b, size_t bytes) noexcept __asm__("emu_memcmp");
}

// Not in brackets: (__builtin_memcpy)(...) is the compiler's, for the emulator's own headers.
#define __builtin_memcpy(...) __tsan_memcpy(__VA_ARGS__)
#define __builtin_memmove(...) __tsan_memmove(__VA_ARGS__)
#define __builtin_memset(...) __tsan_memset(__VA_ARGS__)
