#pragma once
// What running kernels at the same time can gain.

// Equally long kernels, `together` of them at a time, over the same ones one after the other.
inline double idealSpeedup(unsigned kernels, unsigned together) {
    const unsigned turns = kernels / together + (kernels % together != 0);
    return 1.0 * kernels / turns;
}
