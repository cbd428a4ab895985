#pragma once
// A graph, and how long it took to make it: launchCost.

#include <functional>

#include "lab.cuh"

// Work that a stream has recorded instead of running it, made ready to be launched as a whole.
class Recorded {
  public:
    using Work = std::function<void(cudaStream_t)>;

    Recorded() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~Recorded() {
        cudaGraphExecDestroy(executable_);
        cudaStreamDestroy(stream_);
    }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

    // Records what launch() does from now on. At the first time all is made ready; then only the
    // parameters are exchanged, and the kernels must be the same.
    void record(const Work& work) {
        const lab::CpuTimer timer;
        cudaGraph_t graph;
        CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
        work(stream_);
        CUDA_CHECK(cudaStreamEndCapture(stream_, &graph));
        if (executable_ == nullptr) {
            CUDA_CHECK(cudaGraphInstantiate(&executable_, graph, 0));
            CUDA_CHECK(cudaGraphUpload(executable_, stream_));
            CUDA_CHECK(cudaStreamSynchronize(stream_));
            preparedIn_ = timer.milliseconds();
        } else {
            cudaGraphExecUpdateResultInfo result;
            CUDA_CHECK(cudaGraphExecUpdate(executable_, graph, &result));
        }
        CUDA_CHECK(cudaGraphDestroy(graph));
    }

    void launch() const { CUDA_CHECK(cudaGraphLaunch(executable_, nullptr)); }

    double preparedIn() const { return preparedIn_; }  // milliseconds, at the first time

  private:
    cudaStream_t stream_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
    double preparedIn_ = 0;
};
