// Namespace cuda::std: the host's standard library has what libcu++ has of it. (NVIDIA's own
// headers do not compile here: they include the arithmetic of 16 bits, which needs intrinsics of
// nvcc.)
#pragma once

#include "cuda_runtime.h"

namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda
