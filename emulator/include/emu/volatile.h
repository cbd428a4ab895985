// Stands for `volatile T*` in device code, where T is arithmetic or a struct; the translator puts
// it there.
//
// In older textbooks a warp ends a reduction with `v[i] += v[i + 16]; v[i] += v[i + 8];` and so on
// through a volatile pointer and without __syncwarp(): the lanes ran in lockstep. GPUs since Volta
// do not promise that, but such code still runs as it was meant. Here a thread waits for lanes that
// are behind before and after each store (laneStep()) and each load (laneLoads()). When lanes
// take the same steps, all have loaded before the first of them stores, and all have stored before
// the first of them goes on, even if only the loads or only the stores are volatile.
//
// A thread that loads again and again polls; it lets the others run.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "emu/engine.h"

namespace emu {

template <class T>
class VolatilePointerTo;

// Lies where a T is. It is no handle of it, so that code which deduces a type from it is right,
// too: a copy has the value (`auto x = v[0];`), and a reference is the element itself (swap(v[0],
// v[1])).
template <class T>
class VolatileElement {
  public:
    VolatileElement() = default;
    explicit VolatileElement(T value) : value_(value) {}
    // (not trivial, so that the compiler refuses to pass one to printf)
    VolatileElement(const VolatileElement& other) : value_(other.load()) {}

    operator T() const { return load(); }  // NOLINT: implicit, as for an lvalue
    VolatileElement& operator=(T value) {
        volatileLoads = 0;
        laneStep();
        *at() = value;
        laneStep();
        return *this;
    }
    VolatileElement& operator=(const VolatileElement& other) { return *this = other.load(); }
    VolatilePointerTo<T> operator&() const;

    // clang-format off
    template <class U> VolatileElement& operator+=(const U& v) { return *this = static_cast<T>(load() + v); }
    template <class U> VolatileElement& operator-=(const U& v) { return *this = static_cast<T>(load() - v); }
    template <class U> VolatileElement& operator*=(const U& v) { return *this = static_cast<T>(load() * v); }
    template <class U> VolatileElement& operator/=(const U& v) { return *this = static_cast<T>(load() / v); }
    template <class U> VolatileElement& operator%=(const U& v) { return *this = static_cast<T>(load() % v); }
    template <class U> VolatileElement& operator&=(const U& v) { return *this = static_cast<T>(load() & v); }
    template <class U> VolatileElement& operator|=(const U& v) { return *this = static_cast<T>(load() | v); }
    template <class U> VolatileElement& operator^=(const U& v) { return *this = static_cast<T>(load() ^ v); }
    template <class U> VolatileElement& operator<<=(const U& v) { return *this = static_cast<T>(load() << v); }
    template <class U> VolatileElement& operator>>=(const U& v) { return *this = static_cast<T>(load() >> v); }
    VolatileElement& operator++() { return *this += 1; }
    VolatileElement& operator--() { return *this -= 1; }
    T operator++(int) { const T old = load(); *this = static_cast<T>(old + 1); return old; }
    T operator--(int) { const T old = load(); *this = static_cast<T>(old - 1); return old; }
    // clang-format on

  private:
    volatile T* at() const { return const_cast<volatile T*>(&value_); }

    T load() const {
        pollHint();
        const bool waits = laneLoads(at());
        const T value = *at();
        if (waits) laneHasLoaded();
        return value;
    }

    T value_;
};

// What a volatile pointer to T points to. A member of a struct cannot tell when it is loaded or
// stored: in its place each use of the struct is a step.
template <class T>
VolatileElement<T>& volatileObject(volatile T* at, std::true_type /*arithmetic*/) {
    return *(VolatileElement<T>*)at;
}
template <class T>
volatile T& volatileObject(volatile T* at, std::false_type) {
    pollHint();
    laneStep();
    return *at;
}

template <class T>
class VolatilePointerTo {
  public:
    VolatilePointerTo() = default;
    VolatilePointerTo(volatile T* at) : at_(at) {}       // NOLINT: implicit, as from T*
    VolatilePointerTo(std::nullptr_t) : at_(nullptr) {}  // NOLINT
    template <class U, class = std::enable_if_t<std::is_same<const U, T>::value>>
    VolatilePointerTo(VolatilePointerTo<U> other) : at_(other) {}  // NOLINT: as T* to const T*
    template <class U>
    explicit VolatilePointerTo(U* at) : at_((volatile T*)at) {}
    explicit VolatilePointerTo(uintptr_t address) : at_((volatile T*)address) {}

    operator volatile T*() const { return at_; }  // NOLINT: implicit, to pass it on
    template <class U>
    explicit operator U*() const {  // of a cast, which may take volatile away
        return (U*)at_;
    }

    decltype(auto) operator*() const { return volatileObject(at_, std::is_arithmetic<T>()); }
    template <class Index>
    decltype(auto) operator[](Index i) const {
        return *VolatilePointerTo(at_ + i);
    }
    volatile T* operator->() const { return std::addressof(**this); }
    template <class Index, class = std::enable_if_t<std::is_integral<Index>::value>>
    VolatilePointerTo operator+(Index i) const {
        return at_ + i;
    }
    template <class Index, class = std::enable_if_t<std::is_integral<Index>::value>>
    VolatilePointerTo operator-(Index i) const {
        return at_ - i;
    }
    std::ptrdiff_t operator-(VolatilePointerTo other) const { return at_ - other.at_; }
    VolatilePointerTo& operator+=(std::ptrdiff_t i) {
        at_ += i;
        return *this;
    }
    VolatilePointerTo& operator-=(std::ptrdiff_t i) {
        at_ -= i;
        return *this;
    }
    VolatilePointerTo& operator++() { return *this += 1; }
    VolatilePointerTo& operator--() { return *this -= 1; }
    VolatilePointerTo operator++(int) { return std::exchange(*this, *this + 1); }
    VolatilePointerTo operator--(int) { return std::exchange(*this, *this - 1); }

  private:
    volatile T* at_;
};

template <class T>
VolatilePointerTo<T> VolatileElement<T>::operator&() const {
    return at();
}

// Pointers to anything else stay as they are.
template <class T>
using VolatilePointer = std::conditional_t<std::is_arithmetic<T>::value || std::is_class<T>::value,
                                           VolatilePointerTo<T>, volatile T*>;

// A shared variable as `v[0]` is. (A struct stays as it is.)
template <class T>
decltype(auto) volatileVariable(volatile T& variable) {
    if constexpr (std::is_arithmetic<T>::value) {
        return volatileObject(&variable, std::true_type());
    } else {
        return (variable);
    }
}

}  // namespace emu
