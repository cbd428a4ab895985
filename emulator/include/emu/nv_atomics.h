// The atomic functions that nvcc has had since CUDA 12.8, after the model of GCC's: CUDA C++
// Programming Guide, "Built-in Atomic Functions". nvcc 13.0 takes the types and sizes that are
// taken here.
//
// Memory orders and scopes only promise less or more on a GPU; here all are the strongest. The
// hazard check holds what releases for an atomic behind a __threadfence().
#pragma once

#include <cstdint>
#include <type_traits>

#include "emu/atomics.h"
#include "emu/thread_functions.h"

#define __CUDACC_DEVICE_ATOMIC_BUILTINS__ 1

enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};
enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

namespace emu {

#ifdef __EMU_INSTRUMENTED__
// As recordAtomic(), of one that only reads, or only writes; and a fence.
void recordAtomicLoad(const volatile void* address, size_t bytes);
void recordAtomicStore(const volatile void* address, size_t bytes);
void recordAtomicExchange(const volatile void* address, size_t bytes);
void recordAtomicCompare(const volatile void* address, size_t bytes);
void recordFence();
#define EMU_RECORD(WHAT, address) ::emu::WHAT(address, sizeof(*(address)))
#else
#define EMU_RECORD(WHAT, address)
#endif

template <class T>
constexpr bool isPlainIntegral = std::is_same<T, std::remove_cv_t<T>>::value &&
                                 (std::is_integral<T>::value || std::is_same<T, __int128>::value ||
                                  std::is_same<T, unsigned __int128>::value);

template <class T, size_t... Sizes>
constexpr bool hasSize = ((sizeof(T) == Sizes) || ...);

// An unsigned integer of as many bytes.
template <size_t Bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
    using Type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
    using Type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
    using Type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
    using Type = std::uint64_t;
};
template <>
struct UnsignedOf<16> {
    using Type = unsigned __int128;
};
template <class T>
using BitsOf = typename UnsignedOf<sizeof(T)>::Type;

template <class To, class From>
To copyOf(const From* from) {
    To to;
    (__builtin_memcpy)(&to, from, sizeof(to));
    return to;
}

template <class T>
BitsOf<T>* bitsAt(T* address) {
    return reinterpret_cast<BitsOf<T>*>(const_cast<std::remove_cv_t<T>*>(address));
}

// Orders that a function takes, one bit each.
constexpr unsigned kAnyOrder = (2u << __NV_ATOMIC_SEQ_CST) - 1;
constexpr unsigned kLoadOrders = kAnyOrder ^ 1u << __NV_ATOMIC_RELEASE ^ 1u << __NV_ATOMIC_ACQ_REL;
constexpr unsigned kStoreOrders =
    kAnyOrder ^ 1u << __NV_ATOMIC_CONSUME ^ 1u << __NV_ATOMIC_ACQUIRE ^ 1u << __NV_ATOMIC_ACQ_REL;

// Ends the kernel where nvcc refuses the arguments; they need not be constant here.
EMU_NOT_RECORDED inline void beginAtomic(int order, int scope, unsigned orders = kAnyOrder) {
    if (order < __NV_ATOMIC_RELAXED || order > __NV_ATOMIC_SEQ_CST) {
        refuse("the memory order of an atomic function is none of __NV_ATOMIC_RELAXED ...");
    }
    if (scope < __NV_THREAD_SCOPE_THREAD || scope > __NV_THREAD_SCOPE_SYSTEM) {
        refuse("the scope of an atomic function is none of __NV_THREAD_SCOPE_THREAD ...");
    }
    if ((orders >> order & 1) == 0) {
        refuse(orders == kLoadOrders
                   ? "the memory order of an atomic load cannot be __NV_ATOMIC_RELEASE or _ACQ_REL"
                   : "the memory order of an atomic store cannot be __NV_ATOMIC_CONSUME, _ACQUIRE "
                     "or _ACQ_REL");
    }
#ifdef __EMU_INSTRUMENTED__
    if (order >= __NV_ATOMIC_RELEASE) recordFence();
#endif
}

// Objects of 16 bytes: no processor has all operations on them, so that a lock guards each. Nothing
// fails within: the object has been touched before.
class WideObject {
  public:
    using Bits = unsigned __int128;

    EMU_NOT_RECORDED explicit WideObject(Bits* object, bool writes) : object_(object) {
        spinHint();
        auto* bytes = reinterpret_cast<volatile unsigned char*>(object);
        for (size_t i : {size_t{0}, sizeof(Bits) - 1}) {
            if (writes) {
                __atomic_fetch_or(&bytes[i], 0, __ATOMIC_RELAXED);
            } else {
                (void)bytes[i];
            }
        }
        while (__atomic_test_and_set(&taken(), __ATOMIC_ACQUIRE)) {
        }
    }
    EMU_NOT_RECORDED ~WideObject() { __atomic_clear(&taken(), __ATOMIC_RELEASE); }
    WideObject(const WideObject&) = delete;
    WideObject& operator=(const WideObject&) = delete;

    EMU_NOT_RECORDED Bits get() const {
        Bits bits;
        (__builtin_memcpy)(&bits, object_, sizeof(bits));
        return bits;
    }
    EMU_NOT_RECORDED void set(Bits bits) { (__builtin_memcpy)(object_, &bits, sizeof(bits)); }

  private:
    EMU_NOT_RECORDED static bool& taken() {
        static bool is = false;
        return is;
    }

    Bits* object_;
};

template <class Bits>
Bits loadBits(Bits* address) {
    spinHint();
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}
EMU_NOT_RECORDED inline unsigned __int128 loadBits(unsigned __int128* address) {
    EMU_RECORD(recordAtomicLoad, address);
    return WideObject(address, false).get();
}

template <class Bits>
void storeBits(Bits* address, Bits value) {
    spinHint();
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}
EMU_NOT_RECORDED inline void storeBits(unsigned __int128* address, unsigned __int128 value) {
    EMU_RECORD(recordAtomicStore, address);
    WideObject(address, true).set(value);
}

template <class Bits>
Bits exchangeBits(Bits* address, Bits value) {
    spinHint();
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);
}
EMU_NOT_RECORDED inline unsigned __int128 exchangeBits(unsigned __int128* address,
                                                       unsigned __int128 value) {
    EMU_RECORD(recordAtomicExchange, address);
    WideObject object(address, true);
    const unsigned __int128 old = object.get();
    object.set(value);
    return old;
}

// Returns what was there.
template <class Bits>
Bits compareBits(Bits* address, Bits expected, Bits desired) {
    spinHint();
    __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return expected;
}
EMU_NOT_RECORDED inline unsigned __int128 compareBits(unsigned __int128* address,
                                                      unsigned __int128 expected,
                                                      unsigned __int128 desired) {
    EMU_RECORD(recordAtomicCompare, address);
    WideObject object(address, true);
    const unsigned __int128 old = object.get();
    if (old == expected) object.set(desired);
    return old;
}

template <class T>
bool compareExchange(T* address, void* expected, BitsOf<T> desired, int success, int failure,
                     int scope) {
    beginAtomic(failure, scope);
    beginAtomic(success, scope);
    const auto before = copyOf<BitsOf<T>>(static_cast<const T*>(expected));
    const auto old = compareBits(bitsAt(address), before, desired);
    if (old != before) (__builtin_memcpy)(expected, &old, sizeof(old));
    return old == before;
}

template <class T>
constexpr void expectIntegral() {
    static_assert(isPlainIntegral<T>,
                  "the _n functions take integers alone, neither const nor volatile: use the "
                  "function without _n, which takes "
                  "pointers to the values");
}
template <class T>
constexpr void expectAnySize() {
    static_assert(hasSize<T, 1, 2, 4, 8, 16>, "an atomic object has 1, 2, 4, 8 or 16 bytes");
}
template <class T>
constexpr void expectExchanged() {
    static_assert(hasSize<T, 4, 8, 16>, "an atomic exchange takes objects of 4, 8 or 16 bytes");
}
template <class T>
constexpr void expectCompared() {
    static_assert(hasSize<T, 2, 4, 8, 16>,
                  "an atomic compare-and-exchange takes objects of 2, 4, 8 or 16 bytes");
}
template <class T>
constexpr void expectSum() {
    static_assert((isPlainIntegral<T> && hasSize<T, 4, 8>) || std::is_same<T, float>::value ||
                      std::is_same<T, double>::value,
                  "an atomic addition or subtraction takes integers of 4 or 8 bytes, float and "
                  "double");
    static_assert(!(std::is_signed<T>::value && isPlainIntegral<T> && sizeof(T) == 8),
                  "an atomic addition or subtraction of 8 bytes takes unsigned integers");
}
template <class T>
constexpr void expectLogical() {
    static_assert((isPlainIntegral<T> || std::is_enum<T>::value) && hasSize<T, 4, 8>,
                  "an atomic and, or, xor takes integers of 4 or 8 bytes");
}
template <class T>
constexpr void expectOrdered() {
    static_assert(isPlainIntegral<T> && hasSize<T, 4, 8>,
                  "an atomic minimum or maximum takes integers of 4 or 8 bytes");
}

template <class T>
T fetchAdd(T* address, T value) {
    return atomicAddAny(address, value);
}
template <class T>
T fetchSub(T* address, T value) {
    if constexpr (std::is_integral<T>::value) {
        return atomicSubAny(address, value);
    } else {
        return atomicUpdate(address, [value](T old) { return old - value; });
    }
}
#define EMU_FETCH_LOGICAL(NAME, FUNCTION)                                                \
    template <class T>                                                                   \
    T NAME(T* address, T value) {                                                        \
        return static_cast<T>(FUNCTION(bitsAt(address), static_cast<BitsOf<T>>(value))); \
    }
EMU_FETCH_LOGICAL(fetchAnd, atomicAndAny)
EMU_FETCH_LOGICAL(fetchOr, atomicOrAny)
EMU_FETCH_LOGICAL(fetchXor, atomicXorAny)
#undef EMU_FETCH_LOGICAL

}  // namespace emu

// `address` is in shared or global memory. The others are what GCC's functions take, too; `weak`
// and the weaker of two orders make no difference.
template <class T>
T __nv_atomic_load_n(T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::expectIntegral<T>();
    emu::beginAtomic(order, scope, emu::kLoadOrders);
    return static_cast<T>(emu::loadBits(emu::bitsAt(address)));
}
template <class T>
void __nv_atomic_load(T* address, void* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::expectAnySize<T>();
    emu::beginAtomic(order, scope, emu::kLoadOrders);
    const auto bits = emu::loadBits(emu::bitsAt(address));
    (__builtin_memcpy)(result, &bits, sizeof(bits));
}

template <class T>
void __nv_atomic_store_n(T* address, emu::Convertible<T> value, int order,
                         int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::expectIntegral<T>();
    emu::beginAtomic(order, scope, emu::kStoreOrders);
    emu::storeBits(emu::bitsAt(address), static_cast<emu::BitsOf<T>>(value));
}
template <class T>
void __nv_atomic_store(T* address, const volatile void* value, int order,
                       int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::expectAnySize<T>();
    emu::beginAtomic(order, scope, emu::kStoreOrders);
    emu::storeBits(emu::bitsAt(address),
                   emu::copyOf<emu::BitsOf<T>>(const_cast<const void*>(value)));
}

template <class T>
T __nv_atomic_exchange_n(T* address, emu::Convertible<T> value, int order,
                         int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::expectIntegral<T>();
    emu::expectExchanged<T>();
    emu::beginAtomic(order, scope);
    return static_cast<T>(
        emu::exchangeBits(emu::bitsAt(address), static_cast<emu::BitsOf<T>>(value)));
}
template <class T>
void __nv_atomic_exchange(T* address, const void* value, void* result, int order,
                          int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::expectExchanged<T>();
    emu::beginAtomic(order, scope);
    const auto bits = emu::exchangeBits(emu::bitsAt(address), emu::copyOf<emu::BitsOf<T>>(value));
    (__builtin_memcpy)(result, &bits, sizeof(bits));
}

template <class T>
bool __nv_atomic_compare_exchange_n(T* address, void* expected, emu::Convertible<T> desired,
                                    bool /*weak*/, int success, int failure,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::expectIntegral<T>();
    emu::expectCompared<T>();
    return emu::compareExchange(address, expected, static_cast<emu::BitsOf<T>>(desired), success,
                                failure, scope);
}
template <class T>
bool __nv_atomic_compare_exchange(T* address, void* expected, const void* desired, bool /*weak*/,
                                  int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::expectCompared<T>();
    return emu::compareExchange(address, expected, emu::copyOf<emu::BitsOf<T>>(desired), success,
                                failure, scope);
}

// __nv_atomic_fetch_add() returns what was there, __nv_atomic_add() nothing.
#define EMU_NV_ATOMIC(NAME, EXPECT, FUNCTION)                                    \
    template <class T>                                                           \
    T __nv_atomic_fetch_##NAME(T* address, emu::Convertible<T> value, int order, \
                               int scope = __NV_THREAD_SCOPE_SYSTEM) {           \
        emu::EXPECT<T>();                                                        \
        emu::beginAtomic(order, scope);                                          \
        return emu::FUNCTION<T>(address, value);                                 \
    }                                                                            \
    template <class T>                                                           \
    void __nv_atomic_##NAME(T* address, emu::Convertible<T> value, int order,    \
                            int scope = __NV_THREAD_SCOPE_SYSTEM) {              \
        emu::EXPECT<T>();                                                        \
        emu::beginAtomic(order, scope);                                          \
        emu::FUNCTION<T>(address, value);                                        \
    }
EMU_NV_ATOMIC(add, expectSum, fetchAdd)
EMU_NV_ATOMIC(sub, expectSum, fetchSub)
EMU_NV_ATOMIC(and, expectLogical, fetchAnd)
EMU_NV_ATOMIC(or, expectLogical, fetchOr)
EMU_NV_ATOMIC(xor, expectLogical, fetchXor)
EMU_NV_ATOMIC(min, expectOrdered, atomicMinAny)
EMU_NV_ATOMIC(max, expectOrdered, atomicMaxAny)
#undef EMU_NV_ATOMIC
#undef EMU_RECORD

inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::beginAtomic(order, scope);
    if (order != __NV_ATOMIC_RELAXED) __threadfence();
}
