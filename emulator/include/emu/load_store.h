// Loads and stores with a hint for the GPU's caches. The host has no such hints: they are plain.
#pragma once

#include <type_traits>

#include "emu/engine.h"
#include "emu/overloads.h"
#include "emu/vector_types.h"

namespace emu {

template <class T>
using EnableIfLoadable =
    EnableIfOneOf<T, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
                  unsigned long, long long, unsigned long long, float, double, char2, char4, uchar2,
                  uchar4, short2, short4, ushort2, ushort4, int2, int4, uint2, uint4, longlong2,
                  ulonglong2, float2, float4, double2>;

template <class T>
T pollingLoad(const T* address) {
    spinHint();
    if constexpr (std::is_arithmetic<T>::value) {
        return *static_cast<const volatile T*>(address);
    } else {
        return *address;
    }
}

}  // namespace emu

#define EMU_LOAD(NAME)                               \
    template <class T, emu::EnableIfLoadable<T> = 0> \
    T NAME(const T* address) {                       \
        return *address;                             \
    }
// Those that skip the L1 cache see what other blocks write, so that a thread may poll with them:
// they are volatile, as far as C++ can copy that.
#define EMU_POLLING_LOAD(NAME)                       \
    template <class T, emu::EnableIfLoadable<T> = 0> \
    T NAME(const T* address) {                       \
        return emu::pollingLoad(address);            \
    }
#define EMU_STORE(NAME)                                \
    template <class T, emu::EnableIfLoadable<T> = 0>   \
    void NAME(T* address, emu::Convertible<T> value) { \
        *address = value;                              \
    }

EMU_LOAD(__ldg)
EMU_LOAD(__ldca)
EMU_LOAD(__ldcs)
EMU_LOAD(__ldlu)
EMU_POLLING_LOAD(__ldcg)
EMU_POLLING_LOAD(__ldcv)
EMU_STORE(__stwb)
EMU_STORE(__stcg)
EMU_STORE(__stcs)
EMU_STORE(__stwt)

#undef EMU_LOAD
#undef EMU_POLLING_LOAD
#undef EMU_STORE
