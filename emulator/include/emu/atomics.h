// CUDA's atomic functions: each returns the value that was at the address before.
//
// All are lock-free. CUDA's are relaxed; these are acquire-release, which costs nothing on x86 and
// keeps the locks and tickets of textbooks right on hosts with weaker ordering. The scopes (_block,
// _system) only promise less or more on a GPU, here they are the same.
#pragma once

#include "emu/engine.h"
#include "emu/kernel_frame.h"
#include "emu/overloads.h"
#include "emu/vector_types.h"

#ifdef __EMU_INSTRUMENTED__
#define EMU_RECORD_ATOMIC(address) ::emu::recordAtomic(address, sizeof(*(address)))
#define EMU_RECORD_SUM(address, old, value) ::emu::recordSum(address, old, value)
#else
#define EMU_RECORD_ATOMIC(address)
#define EMU_RECORD_SUM(address, old, value)
#endif

namespace emu {

#ifdef __EMU_INSTRUMENTED__
// The running thread carries out an atomic operation on `bytes` bytes at `address`.
void recordAtomic(const volatile void* address, size_t bytes);
// It has added `value` to `old` there.
void recordSum(const float* address, float old, float value);
void recordSum(const double* address, double old, double value);
#endif

// Replaces *address by next(*address). Every atomic begins with spinHint(): a thread that polls one
// lets the others of its block run, so that what it waits for can happen. The profiler shall see
// one atomic, and not the loop.
template <class T, class Next>
EMU_NOT_RECORDED T atomicUpdate(T* address, Next next) {
    spinHint();
    EMU_RECORD_ATOMIC(address);
    T old;
    __atomic_load(address, &old, __ATOMIC_ACQUIRE);
    T desired = next(old);
    while (!__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE)) {
        desired = next(old);
    }
    return old;
}

template <class T>
T atomicAddAny(T* address, T value) {
    if constexpr (std::is_integral<T>::value) {
        spinHint();
        return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
    } else {
        const T before = atomicUpdate(address, [value](T old) { return old + value; });
        EMU_RECORD_SUM(address, before, value);
        return before;
    }
}

// A vector is added element by element, each of them atomically, as on a GPU.
inline float2 atomicAddAny(float2* address, float2 value) {
    return {atomicAddAny(&address->x, value.x), atomicAddAny(&address->y, value.y)};
}
inline float4 atomicAddAny(float4* address, float4 value) {
    return {atomicAddAny(&address->x, value.x), atomicAddAny(&address->y, value.y),
            atomicAddAny(&address->z, value.z), atomicAddAny(&address->w, value.w)};
}

template <class T>
T atomicSubAny(T* address, T value) {
    spinHint();
    return __atomic_fetch_sub(address, value, __ATOMIC_ACQ_REL);
}

template <class T>
T atomicExchAny(T* address, T value) {
    spinHint();
    T old;
    __atomic_exchange(address, &value, &old, __ATOMIC_ACQ_REL);
    return old;
}

template <class T>
T atomicMinAny(T* address, T value) {
    return atomicUpdate(address, [value](T old) { return value < old ? value : old; });
}

template <class T>
T atomicMaxAny(T* address, T value) {
    return atomicUpdate(address, [value](T old) { return value > old ? value : old; });
}

// Counts up to `limit`, then starts again from 0.
inline unsigned atomicIncAny(unsigned* address, unsigned limit) {
    return atomicUpdate(address, [limit](unsigned old) { return old >= limit ? 0 : old + 1; });
}

// Counts down to 0, then starts again from `limit`; also where the value is above the limit.
inline unsigned atomicDecAny(unsigned* address, unsigned limit) {
    return atomicUpdate(
        address, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

template <class T>
T atomicAndAny(T* address, T value) {
    spinHint();
    return __atomic_fetch_and(address, value, __ATOMIC_ACQ_REL);
}

template <class T>
T atomicOrAny(T* address, T value) {
    spinHint();
    return __atomic_fetch_or(address, value, __ATOMIC_ACQ_REL);
}

template <class T>
T atomicXorAny(T* address, T value) {
    spinHint();
    return __atomic_fetch_xor(address, value, __ATOMIC_ACQ_REL);
}

template <class T>
T atomicCasAny(T* address, T expected, T value) {
    spinHint();
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    return expected;
}

}  // namespace emu

// Declares NAME(address, value) for the listed types only.
#define EMU_ATOMIC(NAME, FUNCTION, ...)                        \
    template <class T, emu::EnableIfOneOf<T, __VA_ARGS__> = 0> \
    T NAME(T* address, emu::Convertible<T> value) {            \
        return emu::FUNCTION(address, value);                  \
    }
#define EMU_ATOMIC_CAS(NAME, ...)                                                 \
    template <class T, emu::EnableIfOneOf<T, __VA_ARGS__> = 0>                    \
    T NAME(T* address, emu::Convertible<T> expected, emu::Convertible<T> value) { \
        return emu::atomicCasAny(address, expected, value);                       \
    }
#define EMU_ATOMIC_ALL_SCOPES(NAME, FUNCTION, ...)  \
    EMU_ATOMIC(NAME, FUNCTION, __VA_ARGS__)         \
    EMU_ATOMIC(NAME##_block, FUNCTION, __VA_ARGS__) \
    EMU_ATOMIC(NAME##_system, FUNCTION, __VA_ARGS__)

EMU_ATOMIC_ALL_SCOPES(atomicAdd, atomicAddAny, int, unsigned, unsigned long long, float, double,
                      float2, float4)
EMU_ATOMIC_ALL_SCOPES(atomicSub, atomicSubAny, int, unsigned)
EMU_ATOMIC_ALL_SCOPES(atomicExch, atomicExchAny, int, unsigned, unsigned long long, float)
EMU_ATOMIC_ALL_SCOPES(atomicMin, atomicMinAny, int, unsigned, long long, unsigned long long)
EMU_ATOMIC_ALL_SCOPES(atomicMax, atomicMaxAny, int, unsigned, long long, unsigned long long)
EMU_ATOMIC_ALL_SCOPES(atomicInc, atomicIncAny, unsigned)
EMU_ATOMIC_ALL_SCOPES(atomicDec, atomicDecAny, unsigned)
EMU_ATOMIC_ALL_SCOPES(atomicAnd, atomicAndAny, int, unsigned, long long, unsigned long long)
EMU_ATOMIC_ALL_SCOPES(atomicOr, atomicOrAny, int, unsigned, long long, unsigned long long)
EMU_ATOMIC_ALL_SCOPES(atomicXor, atomicXorAny, int, unsigned, long long, unsigned long long)
EMU_ATOMIC_CAS(atomicCAS, unsigned short, int, unsigned, unsigned long long)
EMU_ATOMIC_CAS(atomicCAS_block, int, unsigned, unsigned long long)
EMU_ATOMIC_CAS(atomicCAS_system, int, unsigned, unsigned long long)

#undef EMU_ATOMIC
#undef EMU_ATOMIC_CAS
#undef EMU_ATOMIC_ALL_SCOPES
