// An exercise on a machine without a GPU.

#include <gtest/gtest.h>

#include "../wrapped.h"
#include "exercise.cuh"

// In place of the emulator's own, by the linker's --wrap.
cudaError_t noDevice(int* count) LAB_WRAPPED("_Z18cudaGetDeviceCountPi");

cudaError_t noDevice(int*) {
    return cudaErrorNoDevice;
}

namespace {

void run(lab::BackEnds backEnds) {
    lab::Exercise exercise("test", "A test.", backEnds);
    char name[] = "test";
    char* argv[] = {name, nullptr};
    exercise.parse(1, argv);
}

TEST(NoGpuDeathTest, EndsWith77AndSaysWhatRunsWithoutOne) {
    EXPECT_EXIT(run(lab::BackEnds::kBoth), testing::ExitedWithCode(77),
                "^test: no usable GPU: cudaErrorNoDevice: .*; the cpu back end needs none: "
                "./lab run --backend cpu test\n$");
    EXPECT_EXIT(run(lab::BackEnds::kGpuAlone), testing::ExitedWithCode(77),
                "^test: no usable GPU: cudaErrorNoDevice: .*; this exercise has no version for the "
                "cpu back end\n$");
}

}  // namespace
