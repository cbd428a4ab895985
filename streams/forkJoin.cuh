#pragma once
// Streams whose work begins together and ends together, so that all of it is timed in one place.

#include <cstddef>
#include <vector>

#include "events.cuh"
#include "lab.cuh"

// Streams that do not wait for the default stream (non-blocking): the only order among them is what
// events say.
class ForkJoin {
  public:
    explicit ForkJoin(std::size_t streams) : ForkJoin(std::vector<int>(streams, 0)) {}
    // A stream of each of these priorities; 0, the least, is that of other streams, too.
    explicit ForkJoin(const std::vector<int>& priorities)
        : streams_(priorities.size()), done_(priorities.size()) {
        for (std::size_t s = 0; s < priorities.size(); ++s)
            CUDA_CHECK(
                cudaStreamCreateWithPriority(&streams_[s], cudaStreamNonBlocking, priorities[s]));
    }
    ~ForkJoin() {
        for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    }
    ForkJoin(const ForkJoin&) = delete;
    ForkJoin& operator=(const ForkJoin&) = delete;

    cudaStream_t operator[](std::size_t stream) const { return streams_[stream]; }
    std::size_t size() const { return streams_.size(); }

    // The first `count` streams wait for what the default stream has been given so far.
    void fork(std::size_t count) {
        CUDA_CHECK(cudaEventRecord(fork_[0]));
        for (std::size_t s = 0; s < count; ++s)
            CUDA_CHECK(cudaStreamWaitEvent(streams_[s], fork_[0]));
    }

    // The default stream waits for what the first `count` streams have been given so far.
    void join(std::size_t count) {
        for (std::size_t s = 0; s < count; ++s) {
            CUDA_CHECK(cudaEventRecord(done_[s], streams_[s]));
            CUDA_CHECK(cudaStreamWaitEvent(nullptr, done_[s]));
        }
    }

  private:
    std::vector<cudaStream_t> streams_;
    Events done_, fork_{1};
};
