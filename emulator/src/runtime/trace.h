// What ran when. CUDA_EMULATOR_TRACE=FILE in the environment has the program write a row for each
// kernel that the host launched, each copy and each fill, in the columns of the report
// cuda_gpu_trace of `nsys stats --format csv`; and behind an empty line one for each NVTX range in
// which some of them ran, in those of nvtx_gpu_proj_trace. The times are those of the host.
#pragma once

#include <cstdint>

#include "engine/grid.h"

namespace emu {

// The number of a new stream, as nsys has them: the default stream is 7, the first other one 13.
constexpr unsigned kDefaultStreamNumber = 7;
unsigned nextStreamNumber();

// What the calling OS thread runs from now on is work of this stream.
void traceStream(unsigned number);

// Something runs as long as this lives.
class TracedWork {
  public:
    explicit TracedWork(const KernelCall& kernel);
    explicit TracedWork(const char* name);  // that lives on
    ~TracedWork();
    TracedWork(const TracedWork&) = delete;
    TracedWork& operator=(const TracedWork&) = delete;

  private:
    const char* name_;
    const void* kernel_;
    int64_t begin_;
};

}  // namespace emu
