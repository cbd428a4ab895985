// cooperative_groups::reduce() and the function objects that it takes.
#pragma once

#define _COOPERATIVE_GROUPS_REDUCE_H

#include <cooperative_groups.h>

namespace cooperative_groups {

template <class T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {  // the smaller of the two, as in CUDA
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};

// Combines the values of a tile's or a coalesced group's threads; every thread gets the result.
// Pairwise like the hardware's shuffle tree, so that floating-point sums round alike whatever the
// order of arrival.
template <class Group, class T, class Op>
T reduce(const Group& group, T value, Op&& op, const char* file = __builtin_FILE(),
         int line = __builtin_LINE()) {
    const unsigned size = group.size();
    for (unsigned step = 1; step < size; step *= 2) {
        const T other = group.shfl_down(value, step, file, line);
        if (group.thread_rank() + step < size && group.thread_rank() % (2 * step) == 0)
            value = op(value, other);
    }
    return group.shfl(value, 0, file, line);
}

}  // namespace cooperative_groups
