#include "recordedGraph.cuh"

#include <gtest/gtest.h>

namespace {

__global__ void add(int* to, int number) {
    *to += number;
}

class ARecording : public testing::Test {
  protected:
    ARecording() { sum.fillBytes(0); }
    void record(int first, int second) {
        graph.record([&](cudaStream_t stream) {
            add<<<1, 1, 0, stream>>>(sum.get(), first);
            add<<<1, 1, 0, stream>>>(sum.get(), second);
        });
    }
    int result() {
        CUDA_CHECK(cudaDeviceSynchronize());
        return sum.toHost()[0];
    }

    lab::DeviceBuffer<int> sum{1};
    Recorded graph;
};

TEST_F(ARecording, RunsWhenItIsLaunchedAndAsOftenAsThat) {
    record(1, 2);
    EXPECT_EQ(result(), 0);
    graph.launch();
    EXPECT_EQ(result(), 3);
    graph.launch();
    EXPECT_EQ(result(), 6);
}

TEST_F(ARecording, GetsOtherParameters) {
    record(1, 2);
    record(10, 20);
    EXPECT_EQ(result(), 0);
    graph.launch();
    EXPECT_EQ(result(), 30);
}

TEST_F(ARecording, IsPreparedOnce) {
    record(1, 2);
    const double first = graph.preparedIn();
    EXPECT_GT(first, 0);
    record(10, 20);
    EXPECT_EQ(graph.preparedIn(), first);
}

}  // namespace
