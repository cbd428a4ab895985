// Evaluating one operation in a rounding mode of choice.
#pragma once

#include <cfenv>

namespace emu {

// Hides where a value comes from: the compiler can neither move its computation to another rounding
// mode, nor compute it at compile time, nor fuse it with the next operation to a multiply-add.
template <class T>
T opaque(T x) {
    volatile T hidden = x;
    return hidden;
}

// op(args...) rounded as `mode` says (FE_TOWARDZERO, FE_UPWARD or FE_DOWNWARD).
template <class Op, class... Args>
auto roundedBy(int mode, Op op, Args... args) {
    const int before = std::fegetround();
    std::fesetround(mode);
    const auto result = opaque(op(opaque(args)...));
    std::fesetround(before);
    return result;
}

}  // namespace emu
