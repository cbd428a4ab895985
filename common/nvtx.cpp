#include "nvtx.cuh"

#include <cuda_runtime.h>

#ifndef __CUDA_EMULATOR__
#include <nvtx3/nvToolsExt.h>
#endif

namespace lab {

#ifdef __CUDA_EMULATOR__

NvtxRange::NvtxRange(const std::string&) {}
NvtxRange::~NvtxRange() = default;

#else

NvtxRange::NvtxRange(const std::string& name) {
    nvtxRangePushA(name.c_str());
}
NvtxRange::~NvtxRange() {
    nvtxRangePop();
}

#endif

}  // namespace lab
