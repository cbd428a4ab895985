// Programs include the driver API's header for CUDA_VERSION or out of habit; there is no driver
// API.
#pragma once
#include "cuda_runtime.h"

#define CUDA_VERSION CUDART_VERSION
