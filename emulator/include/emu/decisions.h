// Makes g++ and clang branch and store as nvcc's debug code does, in programs that are compiled for
// the profiler.
#pragma once

#include <memory>
#include <type_traits>

#include "emu/kernel_frame.h"

namespace emu {

// The running thread reads an object as a whole; `pc` is as of a hook.
void readsObject(const void* object, size_t bytes, size_t alignment, const void* pc) noexcept;

// The translator puts conditions and the operands of && and || into calls of it:
//   A && B      bool(truth(!!(A)) ? truth(!!(B)) : truth(false))
//   A || B      bool(truth(!!(A)) ? truth(true) : truth(!!(B)))
//   C ? a : b   truth(!!(C)) ? a : b
// Without optimisation a compiler does not look into it, so that each `?` is one branch. It may be
// evaluated at compile time where the language asks for a constant.
EMU_NOT_RECORDED constexpr bool truth(bool value) noexcept {
    return value;
}

// The translator puts it in front of the step of each `for`, which is a block of its own in nvcc's
// debug code, and in clang's.
#if defined(__clang__) && defined(__EMU_INSTRUMENTED__)
__attribute__((always_inline)) inline void loopStep() noexcept {}  // not the library's
#else
void loopStep() noexcept;
#endif

// The translator puts it in front of each `return;`: the running thread goes on to the end of the
// function. Of g++'s code the hazard check sees that without.
void returns() noexcept;
#ifdef __clang__
#define EMU_RETURNS ::emu::returns();
#else
#define EMU_RETURNS
#endif

// The translator puts one in for each `extern __shared__` array, if they have several names.
// Returns true.
bool dynamicArray(const char* name, const char* file, int line);

// The translator puts the right side of `array[i] = f()` into a call of it. Without, the compiler
// lets an f that returns a struct write that in its place, and reports no store.
template <class T>
EMU_NOT_RECORDED constexpr T&& stored(T&& value) noexcept {
    return static_cast<T&&>(value);
}

}  // namespace emu

// The translator puts arguments into calls of it that are loaded from memory and passed by value:
// `f(array[i])`. g++ reports no load of such a struct. (One that is not trivial to copy has a
// constructor, which does.)
#ifdef __clang__
#define emu_passed(...) (__VA_ARGS__)
#else
template <class T>
EMU_NOT_RECORDED __attribute__((noinline)) constexpr T&& emu_passed(T&& value) noexcept {
    using Value = std::remove_reference_t<T>;
    constexpr bool isStruct = std::is_class<Value>::value || std::is_union<Value>::value;
    if constexpr (isStruct && std::is_lvalue_reference<T>::value &&
                  std::is_trivially_copyable<Value>::value) {
        if (!__builtin_is_constant_evaluated()) {
            ::emu::readsObject(std::addressof(value), sizeof(Value), alignof(Value),
                               __builtin_return_address(0));
        }
    }
    return static_cast<T&&>(value);
}
#endif
