// nvcc --default-stream per-thread, or -DCUDA_API_PER_THREAD_DEFAULT_STREAM: in what is compiled
// so, stream 0 and calls that take no stream mean cudaStreamPerThread. As in CUDA each source has
// its own choice, and the functions that depend on it are macros. (A pointer to one of them means
// the function as others call it. And the arguments are evaluated as if in such a source, whatever
// they call.)
#pragma once

#include "emu/api/launch.h"
#include "emu/api/streams.h"

namespace emu {

template <typename Call>
auto perThread(Call call) {
    const PerThreadDefaultStream here;
    return call();
}

}  // namespace emu

#define EMU_PER_THREAD(call) emu::perThread([&] { return call; })

// Behind what the translator makes of `<<<...>>>`.
#define emuConfig(...) emuConfig(__VA_ARGS__).emuPerThread()

#define cudaLaunchKernel(...) EMU_PER_THREAD(cudaLaunchKernel(__VA_ARGS__))
#define cudaLaunchKernelEx(...) EMU_PER_THREAD(cudaLaunchKernelEx(__VA_ARGS__))
#define cudaLaunchCooperativeKernel(...) EMU_PER_THREAD(cudaLaunchCooperativeKernel(__VA_ARGS__))
#define cudaLaunchHostFunc(...) EMU_PER_THREAD(cudaLaunchHostFunc(__VA_ARGS__))

#define cudaMemcpy(...) EMU_PER_THREAD(cudaMemcpy(__VA_ARGS__))
#define cudaMemcpyAsync(...) EMU_PER_THREAD(cudaMemcpyAsync(__VA_ARGS__))
#define cudaMemcpy2D(...) EMU_PER_THREAD(cudaMemcpy2D(__VA_ARGS__))
#define cudaMemcpy2DAsync(...) EMU_PER_THREAD(cudaMemcpy2DAsync(__VA_ARGS__))
#define cudaMemcpy3D(...) EMU_PER_THREAD(cudaMemcpy3D(__VA_ARGS__))
#define cudaMemcpy3DAsync(...) EMU_PER_THREAD(cudaMemcpy3DAsync(__VA_ARGS__))
#define cudaMemcpyToSymbol(...) EMU_PER_THREAD(cudaMemcpyToSymbol(__VA_ARGS__))
#define cudaMemcpyToSymbolAsync(...) EMU_PER_THREAD(cudaMemcpyToSymbolAsync(__VA_ARGS__))
#define cudaMemcpyFromSymbol(...) EMU_PER_THREAD(cudaMemcpyFromSymbol(__VA_ARGS__))
#define cudaMemcpyFromSymbolAsync(...) EMU_PER_THREAD(cudaMemcpyFromSymbolAsync(__VA_ARGS__))
#define cudaMemset(...) EMU_PER_THREAD(cudaMemset(__VA_ARGS__))
#define cudaMemsetAsync(...) EMU_PER_THREAD(cudaMemsetAsync(__VA_ARGS__))
#define cudaMemset2D(...) EMU_PER_THREAD(cudaMemset2D(__VA_ARGS__))
#define cudaMemset2DAsync(...) EMU_PER_THREAD(cudaMemset2DAsync(__VA_ARGS__))
#define cudaMemset3D(...) EMU_PER_THREAD(cudaMemset3D(__VA_ARGS__))
#define cudaMemset3DAsync(...) EMU_PER_THREAD(cudaMemset3DAsync(__VA_ARGS__))
#define cudaMemPrefetchAsync(...) EMU_PER_THREAD(cudaMemPrefetchAsync(__VA_ARGS__))
#define cudaMallocAsync(...) EMU_PER_THREAD(cudaMallocAsync(__VA_ARGS__))
#define cudaMallocFromPoolAsync(...) EMU_PER_THREAD(cudaMallocFromPoolAsync(__VA_ARGS__))
#define cudaFreeAsync(...) EMU_PER_THREAD(cudaFreeAsync(__VA_ARGS__))

#define cudaEventRecord(...) EMU_PER_THREAD(cudaEventRecord(__VA_ARGS__))
#define cudaEventRecordWithFlags(...) EMU_PER_THREAD(cudaEventRecordWithFlags(__VA_ARGS__))
#define cudaStreamWaitEvent(...) EMU_PER_THREAD(cudaStreamWaitEvent(__VA_ARGS__))
#define cudaStreamQuery(...) EMU_PER_THREAD(cudaStreamQuery(__VA_ARGS__))
#define cudaStreamSynchronize(...) EMU_PER_THREAD(cudaStreamSynchronize(__VA_ARGS__))
#define cudaStreamAddCallback(...) EMU_PER_THREAD(cudaStreamAddCallback(__VA_ARGS__))
#define cudaStreamAttachMemAsync(...) EMU_PER_THREAD(cudaStreamAttachMemAsync(__VA_ARGS__))
#define cudaStreamGetDevice(...) EMU_PER_THREAD(cudaStreamGetDevice(__VA_ARGS__))
#define cudaStreamGetFlags(...) EMU_PER_THREAD(cudaStreamGetFlags(__VA_ARGS__))
#define cudaStreamGetPriority(...) EMU_PER_THREAD(cudaStreamGetPriority(__VA_ARGS__))

#define cudaStreamBeginCapture(...) EMU_PER_THREAD(cudaStreamBeginCapture(__VA_ARGS__))
#define cudaStreamEndCapture(...) EMU_PER_THREAD(cudaStreamEndCapture(__VA_ARGS__))
#define cudaStreamIsCapturing(...) EMU_PER_THREAD(cudaStreamIsCapturing(__VA_ARGS__))
#define cudaGraphUpload(...) EMU_PER_THREAD(cudaGraphUpload(__VA_ARGS__))
#define cudaGraphLaunch(...) EMU_PER_THREAD(cudaGraphLaunch(__VA_ARGS__))
