#include "littlesLaw.cuh"

#include <gtest/gtest.h>

namespace {

lab::DeviceFacts twoSms() {
    lab::DeviceFacts gpu;
    gpu.multiprocessors = 2;
    gpu.clock = 1e9;
    return gpu;
}

std::vector<std::string> exact(const std::vector<lab::Cell>& cells) {
    std::vector<std::string> texts;
    for (const lab::Cell& cell : cells) texts.push_back(cell.exact());
    return texts;
}

using Texts = std::vector<std::string>;
const lab::Statistics kTenMicroseconds = {0.01, 0.009, 0.02, 5};

// 64 FMAs in a cycle of an SM. Both SMs have 128 threads with 2 chains of 1000 FMAs, and the slower
// one takes 8000 cycles for its 256000: 32 in a cycle. With 256 in flight that is a latency of 8,
// for which the peak would need 512.
TEST(LittlesLaw, OfFmas) {
    Law law(twoSms(), "FMAs", 1, 128e9);
    EXPECT_EQ(exact(law.cells({2, 4, 128, 0}, 2, 512000, kTenMicroseconds, {4000, 8000})),
              (Texts{"2", "4", "256", "32", "8", "102.4", "", "40", "50"}));
    EXPECT_EQ(law.latency(), 8);
    // The latency is that of the first row, and a peak is not exceeded.
    EXPECT_EQ(exact(law.cells({2, 32, 1024, 0}, 1, 2048000, kTenMicroseconds, {16000, 16000})),
              (Texts{"1", "32", "1024", "64", "16", "409.6", "", "160", "100"}));
}

// 32 bytes in a cycle of an SM, of which one is used. At a latency of 100 cycles the GPU would need
// 6400 in flight, and has 512.
TEST(LittlesLaw, OfBytes) {
    Law law(twoSms(), "bytes", 4, 64e9, 100);
    EXPECT_EQ(exact(law.cells({1, 1, 32, 0}, 4, 6400, kTenMicroseconds, {200})),
              (Texts{"4", "1", "512", "32", "16", "", "0.64", "1", "8"}));
    EXPECT_EQ(law.latency(), 100);
}

TEST(LittlesLaw, WithoutTimeOrPeak) {
    Law law(twoSms(), "FMAs", 1, 0);
    EXPECT_EQ(exact(law.cells({2, 64, 1024, 0}, 1, 1, {}, {})), (Texts{"1", "64", "2048"}));
    EXPECT_EQ(exact(law.cells({2, 4, 128, 0}, 2, 512000, kTenMicroseconds, {8000, 8000})),
              (Texts{"2", "4", "256", "32", "8", "102.4", ""}));
    EXPECT_EQ(law.comparison(), "");
}

TEST(LittlesLaw, ComparedWithTheFewestWarpsThatDo) {
    Law law(twoSms(), "FMAs", 1, 128e9);
    const auto row = [&](unsigned warps, unsigned perThread, double perCycle) {
        law.cells({2, warps, 32 * warps, 0}, perThread, 2 * perCycle * 1000, kTenMicroseconds,
                  {1000, 1000});
    };
    row(1, 1, 8);  // a latency of 4 cycles: 256 FMAs are 8 warps
    EXPECT_EQ(law.comparison(), "");
    row(8, 1, 53);
    row(16, 1, 55);
    row(32, 1, 60);
    row(4, 2, 53);
    row(8, 2, 54);
    EXPECT_EQ(law.comparison(),
              "    By the law, 256 FMAs must be in flight: 8.0 warps x 1 per thread.\n"
              "    These come within 10 % of the best: 16 x 1, 8 x 2");
}

}  // namespace
