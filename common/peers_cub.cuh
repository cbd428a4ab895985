#pragma once
// CUB comes with the CUDA toolkit. On the cpu back end there is none, and no row.

#include <cstddef>

#include "ladder.cuh"

#ifndef __CUDA_EMULATOR__
#include <cub/device/device_reduce.cuh>
#endif

namespace lab {

// *sum = input[0] + ... + input[count - 1], all in device memory; `check` looks at *sum.
template <typename T>
void cubSum([[maybe_unused]] Ladder& ladder, [[maybe_unused]] const Check& check,
            [[maybe_unused]] const T* input, [[maybe_unused]] T* sum,
            [[maybe_unused]] std::size_t count) {
#ifndef __CUDA_EMULATOR__
    std::size_t bytes = 0;  // a first call says how much scratch memory it needs
    CUDA_CHECK(cub::DeviceReduce::Sum(nullptr, bytes, input, sum, count));
    const DeviceBuffer<char> scratch(bytes);
    ladder.peer("cub::DeviceReduce::Sum", lab::bytes(1.0 * count * sizeof(T)), check, [&] {
        CUDA_CHECK(cub::DeviceReduce::Sum(scratch.get(), bytes, input, sum, count));
    });
#endif
}

}  // namespace lab
