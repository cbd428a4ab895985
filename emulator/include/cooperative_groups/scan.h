// cooperative_groups::inclusive_scan() and exclusive_scan().
#pragma once

#define _COOPERATIVE_GROUPS_SCAN_H

#include <cooperative_groups/reduce.h>

namespace cooperative_groups {

// Every thread gets the combination of the values of the threads up to and including itself.
template <class Group, class T, class Op = plus<T>>
T inclusive_scan(const Group& group, T value, Op op = {}) {
    for (unsigned step = 1; step < group.size(); step *= 2) {
        const T other = group.shfl_up(value, step);
        if (group.thread_rank() >= step) value = op(other, value);
    }
    return value;
}

// As inclusive_scan(), without the thread's own value; the first thread gets T{}.
template <class Group, class T, class Op = plus<T>>
T exclusive_scan(const Group& group, T value, Op op = {}) {
    const T inclusive = inclusive_scan(group, value, op);
    const T before = group.shfl_up(inclusive, 1);
    return group.thread_rank() == 0 ? T{} : before;
}

}  // namespace cooperative_groups
