#include "kernelSpans.h"

#include <gtest/gtest.h>

namespace {

// Three kernels of two blocks; the first block of each ends last.
std::vector<lab::Span> threeKernels() {
    return {{100, 210, 0}, {110, 200, 1}, {150, 260, 2},
            {140, 250, 2}, {210, 320, 0}, {220, 310, 1}};
}

TEST(KernelSpans, LastFromTheFirstBeginToTheLastEnd) {
    const std::vector<KernelSpan> kernels = spansOfKernels(threeKernels(), 2);
    const unsigned long long begins[] = {100, 140, 210}, ends[] = {210, 260, 320};
    const std::size_t sms[] = {2, 1, 2};
    ASSERT_EQ(kernels.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(kernels[k].begin, begins[k]) << k;
        EXPECT_EQ(kernels[k].end, ends[k]) << k;
        EXPECT_EQ(kernels[k].sms, sms[k]) << k;
    }
}

TEST(KernelSpans, StreamsMayOverlap) {
    EXPECT_EQ(wrongTimes(threeKernels(), 2, 90, 2), "");
    EXPECT_EQ(wrongTimes(threeKernels(), 2, 90, 3), "");
}

TEST(KernelSpans, KernelsOfAStreamFollowOneAnother) {
    EXPECT_EQ(wrongTimes(threeKernels(), 2, 90, 1),
              "kernel 1 began before kernel 0 of its stream had ended");
    std::vector<lab::Span> spans = threeKernels();
    spans[4].begin = 209;  // the first block of kernel 2, in the stream of kernel 0
    EXPECT_EQ(wrongTimes(spans, 2, 90, 2),
              "kernel 2 began before kernel 0 of its stream had ended");
}

TEST(KernelSpans, EveryBlockStaysAsLongAsItWasAsked) {
    std::vector<lab::Span> spans = threeKernels();
    EXPECT_EQ(wrongTimes(spans, 2, 91, 2), "block 1 of kernel 0 did not stay for 91 ns");
    spans[3].end = spans[3].begin + 89;
    EXPECT_EQ(wrongTimes(spans, 2, 90, 2), "block 1 of kernel 1 did not stay for 90 ns");
    spans = threeKernels();
    spans[5].end = spans[5].begin - 1;
    EXPECT_EQ(wrongTimes(spans, 2, 90, 2), "block 1 of kernel 2 did not stay for 90 ns");
    spans[3] = {};  // which has not run
    EXPECT_EQ(wrongTimes(spans, 2, 0, 3), "block 1 of kernel 1 did not stay for 0 ns");
}

}  // namespace
