// What the engine calls a kernel of which a launch does not say the name.
#include "engine/program_symbols.h"
#include "fixture.h"

using emu::kernelName;

constexpr const char* kUnnamed = "(a kernel launched through cudaLaunchKernel)";

__global__ void plain(int* out, void (*)(int)) {
    out[0] = 1;
}

template <int n>
__global__ void fillWith(int* out) {
    out[0] = n;
}

namespace {
__global__ void hidden(int* out) {
    out[0] = 1;
}
}  // namespace

TEST(KernelNames, AreThoseOfTheLaunch) {
    EXPECT_EQ("sum<(1 << 3)>", kernelName("sum<(1 << 3)>", (const void*)plain));
}

TEST(KernelNames, AreElseThoseOfTheFunctions) {
    EXPECT_EQ("plain", kernelName(kUnnamed, (const void*)plain));
    EXPECT_EQ("fillWith<3>", kernelName("(f)", (const void*)fillWith<3>));
    EXPECT_EQ("(anonymous namespace)::hidden", kernelName(kUnnamed, (const void*)hidden));
}

TEST(KernelNames, OfWhichNothingIsKnown) {
    EXPECT_EQ(kUnnamed, kernelName(kUnnamed, nullptr));
}
