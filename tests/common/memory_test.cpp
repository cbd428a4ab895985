// Memory of the host: what does not fit is refused, before the system promises what it has not.
#include "memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "buffer.cuh"
#include "host_memory.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class Memory : public testing::Test {
  protected:
    Memory() { host::pretended = &memory_; }
    ~Memory() override { host::pretended = nullptr; }

    host::Memory memory_ = {1024 * kMiB, 320 * kMiB};
};

TEST_F(Memory, WhatDoesNotFitIsRefused) {
    EXPECT_EXIT(lab::hostVector<double>(std::size_t{1} << 45), testing::ExitedWithCode(1),
                "cannot allocate 256 TiB of host memory: 310 MiB are free; choose a smaller size");
    EXPECT_EXIT(lab::hostVector<double>(SIZE_MAX), testing::ExitedWithCode(1), "host memory");
    EXPECT_EQ(lab::hostVector<int>(3), (std::vector<int>{0, 0, 0}));
    // The rest is kept for stacks and the like. (In a process that has no pinned memory so far.)
    EXPECT_EXIT(std::exit(lab::freeHostBytes() == 310 * kMiB ? 0 : 3), testing::ExitedWithCode(0),
                "");
    EXPECT_EXIT((lab::requireHostMemory(310 * kMiB, 1), std::exit(0)), testing::ExitedWithCode(0),
                "");
    EXPECT_EXIT(lab::requireHostMemory(310 * kMiB + 1, 1), testing::ExitedWithCode(1),
                "host memory: 310 MiB are free");
}

// The emulated device has its memory from the host, which misses it from the first write on.
TEST_F(Memory, DeviceMemoryIsMemoryOfTheHost) {
    lab::DeviceBuffer<char> buffer(200 * kMiB);
    EXPECT_LT(lab::freeHostBytes(), 128 * kMiB);
    EXPECT_EXIT(lab::hostVector<char>(200 * kMiB), testing::ExitedWithCode(1),
                "cannot allocate 200 MiB of host memory: 12[0-9].* MiB are free");
    EXPECT_EXIT(lab::DeviceBuffer<char>(200 * kMiB), testing::ExitedWithCode(1),
                "cannot allocate 200 MiB of device memory: 12[0-9].* MiB are free");
    EXPECT_EXIT(lab::PinnedBuffer<char>(200 * kMiB), testing::ExitedWithCode(1),
                "cannot allocate 200 MiB of pinned memory: 12[0-9].* MiB are free");
}

}  // namespace
