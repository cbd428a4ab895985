// The include guards of those NVIDIA headers that their cuda_runtime.h brings along: by them
// programs ask what has been included (helper_cuda.h and its like).
#pragma once

#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_FUNCTIONS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DRIVER_TYPES_H__
#define __HOST_DEFINES_H__
#define __MATH_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_TYPES_H__
