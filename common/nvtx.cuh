#pragma once
// Names what the host does, for the timelines of the profilers (NVTX, a part of the CUDA toolkit).

#include <string>

#ifndef __CUDA_EMULATOR__
#include <nvtx3/nvToolsExt.h>
#endif

namespace lab {

// A range from construction to destruction. Costs next to nothing where no profiler listens; on the
// cpu back end, nothing at all.
class NvtxRange {
  public:
#ifdef __CUDA_EMULATOR__
    explicit NvtxRange(const std::string&) {}
#else
    explicit NvtxRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
    ~NvtxRange() { nvtxRangePop(); }
#endif
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace lab
