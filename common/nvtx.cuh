#pragma once
// Names what the host does, for the timelines of the profilers and of ./lab trace (NVTX, a part of
// the CUDA toolkit).

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace lab {

// A range from construction to destruction. Costs next to nothing where no profiler listens.
class NvtxRange {
  public:
    explicit NvtxRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
    ~NvtxRange() { nvtxRangePop(); }
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;
};

// Within the range of a rung, one run of it that is measured: `./lab trace --rung` shows the last.
inline const char* const kRepetition = "repetition";

}  // namespace lab
