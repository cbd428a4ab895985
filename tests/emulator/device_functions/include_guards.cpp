// Programs ask by NVIDIA's include guards what they have included.
#include <gtest/gtest.h>

// clang-format off
#include <cuda_runtime.h>

#if !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) || !defined(__DRIVER_TYPES_H__) \
    || !defined(__VECTOR_TYPES_H__) || !defined(__VECTOR_FUNCTIONS_H__) || !defined(__HOST_DEFINES_H__) \
    || !defined(__DEVICE_FUNCTIONS_H__) || !defined(__MATH_FUNCTIONS_H__) \
    || !defined(__DEVICE_ATOMIC_FUNCTIONS_H__) || !defined(__DEVICE_LAUNCH_PARAMETERS_H__)
#error "of cuda_runtime.h and what it includes"
#endif
#if defined(__CUDA_PROFILER_API_H__) || defined(_COOPERATIVE_GROUPS_H_) || defined(__MATH_CONSTANTS_H__)
#error "of headers that nobody has included"
#endif

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_profiler_api.h>
#include <math_constants.h>

#if !defined(_COOPERATIVE_GROUPS_H_) || !defined(_COOPERATIVE_GROUPS_REDUCE_H) \
    || !defined(_COOPERATIVE_GROUPS_SCAN_H) || !defined(_COOPERATIVE_GROUPS_MEMCPY_ASYNC) \
    || !defined(__CUDA_PROFILER_API_H__) || !defined(__MATH_CONSTANTS_H__)
#error "of the headers above"
#endif
// clang-format on

TEST(IncludeGuards, VersionsAgree) {
    EXPECT_EQ(__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10, CUDART_VERSION);
    EXPECT_EQ(__CUDA_API_VER_MAJOR__ * 1000 + __CUDA_API_VER_MINOR__ * 10, CUDART_VERSION);
    EXPECT_EQ(__CUDA_ARCH_LIST__, 900);
}
