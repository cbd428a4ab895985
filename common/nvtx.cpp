#include "nvtx.cuh"

#include <nvtx3/nvToolsExt.h>

namespace lab {

NvtxRange::NvtxRange(const std::string& name) {
    nvtxRangePushA(name.c_str());
}
NvtxRange::~NvtxRange() {
    nvtxRangePop();
}

}  // namespace lab
