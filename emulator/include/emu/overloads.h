// Helpers for functions that CUDA overloads over a fixed list of types.
//
// They are templates here, constrained to exactly these types, where CUDA declares ordinary
// functions: a program may then bring its own function of the same name and type, which overload
// resolution prefers (the textbook's atomicAdd(double*, double), say), and a type that CUDA does
// not offer stays a compile error.
#pragma once

#include <type_traits>

namespace emu {

template <class T, class... List>
using EnableIfOneOf = std::enable_if_t<(std::is_same<T, List>::value || ...), int>;

// T in a place where it is not deduced, so that the argument converts as for an ordinary function.
template <class T>
struct NotDeduced {
    using Type = T;
};
template <class T>
using Convertible = typename NotDeduced<T>::Type;

}  // namespace emu
