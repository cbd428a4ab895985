#pragma once
// Names what the host does, for the timelines of the profilers (NVTX, a part of the CUDA toolkit).

#include <string>

namespace lab {

// A range from construction to destruction. Costs next to nothing where no profiler listens; on the
// cpu back end, nothing at all.
class NvtxRange {
  public:
    explicit NvtxRange(const std::string& name);
    ~NvtxRange();
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace lab
