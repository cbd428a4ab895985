// A program's own atomics for types that CUDA offers, or does not: they come before the emulator's.
#include <gtest/gtest.h>

#include <algorithm>

#include "emu/atomics.h"

static int ownCalls = 0;

// In place of the textbook's replacement for GPUs without an atomicAdd for double.
static double atomicAdd(double* address, double value) {
    ++ownCalls;
    const double old = *address;
    *address += value;
    return old;
}

static float atomicMax(float* address, float value) {
    ++ownCalls;
    return *address = std::max(*address, value);
}

TEST(Atomics, OwnFunctionsOfAProgramArePreferred) {
    ownCalls = 0;
    double d = 1;
    EXPECT_EQ(atomicAdd(&d, 2.0), 1.0);
    EXPECT_EQ(atomicAdd(&d, 2), 3.0);
    EXPECT_EQ(d, 5.0);
    float f = 1;
    EXPECT_EQ(atomicMax(&f, 2), 2.0f);
    EXPECT_EQ(ownCalls, 3);
    float other = 1;
    atomicAdd(&other, 2);  // still ours
    EXPECT_EQ(other, 3.0f);
    EXPECT_EQ(ownCalls, 3);
}
