// Stands for `volatile T*` in device code, where T is arithmetic or a struct; the translator puts
// it there.
//
// In older textbooks a warp ends a reduction with `v[i] += v[i + 16]; v[i] += v[i + 8];` and so on
// through a volatile pointer and without __syncwarp(): the lanes ran in lockstep. GPUs since Volta
// do not promise that, but such code still runs as it was meant. Here a thread waits before and
// after it stores for lanes that are behind (laneStep()), so that lanes which take the same steps
// have all loaded when the first of them stores, and all stored when it goes on.
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

template <class T>
class VolatileReference {
  public:
    explicit VolatileReference(volatile T& at) : at_(&at) {}
    // (not trivial, so that the compiler refuses to pass one to printf)
    VolatileReference(const VolatileReference& other) : at_(other.at_) {}

    operator T() const {  // NOLINT: implicit, as for an lvalue
        pollHint();
        return *at_;
    }
    const VolatileReference& operator=(T value) const {
        volatileLoads = 0;
        laneStep();
        *at_ = value;
        laneStep();
        return *this;
    }
    const VolatileReference& operator=(const VolatileReference& other) const {
        return *this = static_cast<T>(other);
    }
    VolatilePointerTo<T> operator&() const;

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

// What a volatile pointer to T points to. A member of a struct cannot tell when it is loaded or
// stored: in its place each use of the struct is a step.
template <class T>
VolatileReference<T> volatileObject(volatile T* at, std::true_type /*arithmetic*/) {
    return VolatileReference<T>(*at);
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
VolatilePointerTo<T> VolatileReference<T>::operator&() const {
    return at_;
}

// Pointers to anything else stay as they are.
template <class T>
using VolatilePointer = std::conditional_t<std::is_arithmetic<T>::value || std::is_class<T>::value,
                                           VolatilePointerTo<T>, volatile T*>;

// Stands for a shared variable.
template <class T>
using VolatileVariable =
    std::conditional_t<std::is_arithmetic<T>::value, VolatileReference<T>, volatile T&>;

}  // namespace emu
