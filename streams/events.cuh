#pragma once
// Events that are there as long as they are needed.

#include <cstddef>
#include <vector>

#include "lab.cuh"

// An event for each of some points in streams. With flags of cudaEventDefault they can be timed.
class Events {
  public:
    explicit Events(std::size_t count, unsigned flags = cudaEventDisableTiming) : events_(count) {
        for (cudaEvent_t& event : events_) CUDA_CHECK(cudaEventCreateWithFlags(&event, flags));
    }
    ~Events() {
        for (const cudaEvent_t event : events_) cudaEventDestroy(event);
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    cudaEvent_t operator[](std::size_t i) const { return events_[i]; }

  private:
    std::vector<cudaEvent_t> events_;
};
