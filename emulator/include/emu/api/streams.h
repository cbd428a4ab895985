// Streams. All work runs within the call that submits it, which is a legal order for any program:
// what waits (synchronize, wait for an event) finds its work done. Host threads that submit to the
// same stream take turns.
#pragma once

#include "emu/runtime_types.h"

namespace emu {

// While it lives, stream 0 of the calling thread of the host is cudaStreamPerThread: see
// per_thread_default_stream.h.
class PerThreadDefaultStream {
  public:
    PerThreadDefaultStream();
    ~PerThreadDefaultStream();
    PerThreadDefaultStream(const PerThreadDefaultStream&) = delete;
    PerThreadDefaultStream& operator=(const PerThreadDefaultStream&) = delete;

  private:
    bool before_;
};

}  // namespace emu

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
// Priorities are clamped to the range of the device and kept.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);

cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);

// Functions of the host, called in stream order. As in CUDA they may not call the CUDA API: such
// calls return cudaErrorNotPermitted.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* userData);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* userData, unsigned int flags);

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* managed, size_t length = 0,
                                     unsigned int flags = cudaMemAttachSingle);
template <typename T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* managed, size_t length = 0,
                                     unsigned int flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, static_cast<void*>(managed), length, flags);
}
