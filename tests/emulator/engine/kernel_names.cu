// What the engine calls a kernel of which a launch does not say the name.
#include "engine/program_symbols.h"
#include "fixture.h"

__global__ void plain(int*, void (*)(int)) {}
template <int n>
__global__ void numbered() {}
namespace {
__global__ void hidden(int*) {}
}  // namespace

TEST(KernelNames, AreThoseOfTheLaunchOrElseOfTheFunctions) {
    const char* const unnamed = "(a kernel launched through cudaLaunchKernel)";
    EXPECT_EQ("sum<(1 << 3)>", emu::kernelName("sum<(1 << 3)>", (const void*)plain));
    EXPECT_EQ("plain", emu::kernelName(unnamed, (const void*)plain));
    EXPECT_EQ("numbered<3>", emu::kernelName("(f)", (const void*)numbered<3>));
    EXPECT_EQ("(anonymous namespace)::hidden", emu::kernelName(unnamed, (const void*)hidden));
    EXPECT_EQ(unnamed, emu::kernelName(unnamed, nullptr));
}
