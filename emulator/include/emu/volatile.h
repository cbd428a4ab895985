// Stands for `volatile T*` in device code, where T is arithmetic; the translator puts it there.
//
// In older textbooks a warp ends a reduction with `v[i] += v[i + 16]; v[i] += v[i + 8];` and so on
// through a volatile pointer and without __syncwarp(): the lanes ran in lockstep. GPUs since Volta
// do not promise that, but such code still runs as it was meant. Here a thread lets the others of
// its block run before and after it stores. They are continued in turn, so that lanes which take
// the same steps have all loaded when the first of them stores, and all stored when it goes on.
//
// A thread that loads again and again polls; it lets the others run, too.
#pragma once

#include <cstddef>
#include <type_traits>

#include "emu/engine.h"

namespace emu {

template <class T>
class VolatileArithmeticPointer;

template <class T>
class VolatileReference {
  public:
    explicit VolatileReference(volatile T* at) : at_(at) {}
    // (not trivial, so that the compiler refuses to pass one to printf)
    VolatileReference(const VolatileReference& other) : at_(other.at_) {}

    operator T() const {  // NOLINT: implicit, as for an lvalue
        pollHint();
        return *at_;
    }
    const VolatileReference& operator=(T value) const {
        lockstep();
        *at_ = value;
        lockstep();
        return *this;
    }
    const VolatileReference& operator=(const VolatileReference& other) const {
        return *this = static_cast<T>(other);
    }
    VolatileArithmeticPointer<T> operator&() const;

    // clang-format off
    template <class U> const VolatileReference& operator+=(U v) const { return *this = static_cast<T>(*at_ + v); }
    template <class U> const VolatileReference& operator-=(U v) const { return *this = static_cast<T>(*at_ - v); }
    template <class U> const VolatileReference& operator*=(U v) const { return *this = static_cast<T>(*at_ * v); }
    template <class U> const VolatileReference& operator/=(U v) const { return *this = static_cast<T>(*at_ / v); }
    template <class U> const VolatileReference& operator%=(U v) const { return *this = static_cast<T>(*at_ % v); }
    template <class U> const VolatileReference& operator&=(U v) const { return *this = static_cast<T>(*at_ & v); }
    template <class U> const VolatileReference& operator|=(U v) const { return *this = static_cast<T>(*at_ | v); }
    template <class U> const VolatileReference& operator^=(U v) const { return *this = static_cast<T>(*at_ ^ v); }
    template <class U> const VolatileReference& operator<<=(U v) const { return *this = static_cast<T>(*at_ << v); }
    template <class U> const VolatileReference& operator>>=(U v) const { return *this = static_cast<T>(*at_ >> v); }
    const VolatileReference& operator++() const { return *this += 1; }
    const VolatileReference& operator--() const { return *this -= 1; }
    T operator++(int) const { const T old = *at_; *this += 1; return old; }
    T operator--(int) const { const T old = *at_; *this -= 1; return old; }
    // clang-format on

  private:
    volatile T* at_;
};

template <class T>
class VolatileArithmeticPointer {
  public:
    VolatileArithmeticPointer() = default;
    VolatileArithmeticPointer(volatile T* at) : at_(at) {}       // NOLINT: implicit, as from T*
    VolatileArithmeticPointer(std::nullptr_t) : at_(nullptr) {}  // NOLINT
    template <class U>
    explicit VolatileArithmeticPointer(U* at) : at_((volatile T*)at) {}
    explicit VolatileArithmeticPointer(uintptr_t address) : at_((volatile T*)address) {}

    operator volatile T*() const { return at_; }  // NOLINT: implicit, to pass it on
    template <class U>
    explicit operator U*() const {  // of a cast, which may take volatile away
        return (U*)at_;
    }

    VolatileReference<T> operator*() const { return VolatileReference<T>(at_); }
    template <class Index>
    VolatileReference<T> operator[](Index i) const {
        return VolatileReference<T>(at_ + i);
    }
    template <class Index, class = std::enable_if_t<std::is_integral<Index>::value>>
    VolatileArithmeticPointer operator+(Index i) const {
        return at_ + i;
    }
    template <class Index, class = std::enable_if_t<std::is_integral<Index>::value>>
    VolatileArithmeticPointer operator-(Index i) const {
        return at_ - i;
    }
    std::ptrdiff_t operator-(VolatileArithmeticPointer other) const { return at_ - other.at_; }
    VolatileArithmeticPointer& operator+=(std::ptrdiff_t i) {
        at_ += i;
        return *this;
    }
    VolatileArithmeticPointer& operator-=(std::ptrdiff_t i) {
        at_ -= i;
        return *this;
    }
    VolatileArithmeticPointer& operator++() { return *this += 1; }
    VolatileArithmeticPointer& operator--() { return *this -= 1; }
    VolatileArithmeticPointer operator++(int) { return std::exchange(*this, *this + 1); }
    VolatileArithmeticPointer operator--(int) { return std::exchange(*this, *this - 1); }

  private:
    volatile T* at_;
};

template <class T>
VolatileArithmeticPointer<T> VolatileReference<T>::operator&() const {
    return at_;
}

// Pointers to anything else stay as they are.
template <class T>
using VolatilePointer =
    std::conditional_t<std::is_arithmetic<T>::value, VolatileArithmeticPointer<T>, volatile T*>;

}  // namespace emu
