#pragma once
// For functions that the linker's --wrap puts before those of the emulator
// (cmake/TestPrograms.cmake). `symbol` is the mangled name of one of them.

// Declares what its callers get in its place.
#define LAB_WRAPPED(symbol) __asm__("__wrap_" symbol)

// Declares the emulator's own.
#define LAB_BEHIND(symbol) __asm__("__real_" symbol)
