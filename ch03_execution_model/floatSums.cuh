#pragma once
// reduceFloat and compensatedSum use this header. It sums floats, and says how far a sum may be
// from the exact one.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kLoads = 4;  // loads of 16 bytes that each thread has in flight

// Adds the elements of one thread, in a grid-stride loop. Only n, grid and block decide which
// thread adds which elements.
template <typename Sum>
__device__ Sum sumOfThread(const float* data, std::size_t n) {
    const float4* const vectors = reinterpret_cast<const float4*>(data);  // aligned by cudaMalloc()
    const std::size_t count = n / 4, tile = std::size_t{kLoads} * blockDim.x;
    Sum sum = {};
    std::size_t first = blockIdx.x * tile;
    for (; first + tile <= count; first += gridDim.x * tile) {
        float4 v[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) v[k] = vectors[first + k * blockDim.x + threadIdx.x];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) {
            sum += v[k].x;
            sum += v[k].y;
            sum += v[k].z;
            sum += v[k].w;
        }
    }
    // For one block, the next tile is not full. For the others, it begins after the end.
    for (std::size_t i = 4 * first + threadIdx.x; i < n; i += blockDim.x) sum += data[i];
    return sum;
}

inline std::size_t elementsOfTile(unsigned block) {
    return std::size_t{4 * kLoads} * block;
}

// Returns random multiples of 2^-bits from 0 to 1. `negative` percent of them get a minus sign.
inline std::vector<float> randomInput(std::size_t n, std::uint64_t seed, unsigned negative,
                                      unsigned bits) {
    const float unit = 1.0f / static_cast<float>(1u << bits);
    std::vector<float> values = lab::hostVector<float>(n);
    lab::parallelFor(n, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint64_t random = lab::randomBits(seed, i);
            const float x = static_cast<float>(random >> (64 - bits)) * unit;
            values[i] = (random & 0xFFFFFFFF) * 100 >> 32 < negative ? -x : x;
        }
    });
    return values;
}

inline float sequentialOnHost(const std::vector<float>& values) {
    float sum = 0;
    for (const float value : values) sum += value;
    return sum;
}

inline double log2Of(std::size_t n) {
    return std::ceil(std::log2(static_cast<double>(n)));
}

// Returns how many roundings an element goes through in sumOfThread() and in the tree of its block.
inline double roundingsOfBlock(std::size_t n, unsigned grid, unsigned block) {
    const unsigned tilesOfBlock = lab::blocksFor(lab::blocksFor(n, elementsOfTile(block)), grid);
    return 4.0 * kLoads * (tilesOfBlock + 1) + log2Of(block);
}

// CPU reference: holds the sum and the sum of the magnitudes, in double. A double has 53 bits. It
// holds any sum of 2^29 multiples of 2^-24 below 1 exactly, so no addition rounds.
struct ExactSum {
    double sum = 0, magnitudes = 0;
};
inline ExactSum exactSum(const std::vector<float>& values) {
    constexpr std::size_t kLength = 1 << 20;
    std::vector<ExactSum> chunks(lab::blocksFor(values.size(), kLength));
    lab::parallelFor(chunks.size(), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin * kLength; i < std::min(values.size(), end * kLength); ++i) {
            chunks[i / kLength].sum += values[i];
            chunks[i / kLength].magnitudes += std::fabs(values[i]);
        }
    });
    ExactSum all;
    for (const ExactSum& chunk : chunks) {
        all.sum += chunk.sum;
        all.magnitudes += chunk.magnitudes;
    }
    return all;
}

// Says whether all runs of a kernel must give the same sum.
enum Repeated { kSameSum, kAnySum };

// Judges sums against the exact one.
class SumJudge {
  public:
    // `bits` has the same meaning as in randomInput().
    SumJudge(const std::vector<float>& values, unsigned bits)
        : count_(values.size()),
          exact_(exactSum(values)),
          nothingIsRounded_(std::ldexp(exact_.magnitudes, static_cast<int>(bits)) <= 0x1p24) {}

    static std::vector<lab::OwnColumn> columns() {
        return {{"sum", 11, "sum"},
                {"error", 8, "relative_error"},
                {"results", 7, "results"},
                {"spread", 8, "spread"}};
    }

    std::string describeInput() const {
        std::string text = lab::formatted("The sum is %.12g, and the magnitudes sum to %.12g.",
                                          exact_.sum, exact_.magnitudes);
        if (exact_.sum != 0)
            text += lab::formatted("\nThe condition number is %.3g.",
                                   exact_.magnitudes / std::fabs(exact_.sum));
        return text;
    }

    // Returns how far a sum may be from the exact one if each element goes through this many
    // roundings (Higham, Accuracy and Stability of Numerical Algorithms, chapter 4). If all sums of
    // such numbers fit into the 24 bits of a float, no order rounds anything, and the bound is 0.
    double bound(double roundings) const {
        return nothingIsRounded_ ? 0 : roundings * kUnit * exact_.magnitudes;
    }
    // Returns the same bound for Kahan's loop (Higham, (4.8)). It counts two roundings at any
    // length. The other terms count with the square of 2^-24.
    double boundOfKahan() const {
        return bound(2) + bound(2.0 * static_cast<double>(count_) * kUnit);
    }
    // Returns the same bound for a sum that keeps its rest beside it. It counts one rounding at the
    // end. The roundings of the rests count with the square of 2^-24.
    double boundCompensated(double roundings) const {
        if (nothingIsRounded_) return 0;
        return kUnit * std::fabs(exact_.sum) + roundings * kUnit * bound(roundings);
    }

    // Judges the sums of several runs, gives the columns, and says what is wrong.
    lab::Finding judge(const std::vector<float>& ofRuns, double allowed, Repeated repeated) const {
        for (const float sum : ofRuns) {
            if (std::isnan(sum)) return "the sum is not a number, or the kernel never wrote it";
        }
        const std::set<float> different(ofRuns.begin(), ofRuns.end());
        const float least = *different.begin(), most = *different.rbegin();
        const bool tooLow = std::fabs(least - exact_.sum) > std::fabs(most - exact_.sum);
        const float worst = tooLow ? least : most;

        lab::Finding finding;
        finding.cells = {lab::formatted("%.9g", worst), relative(worst - exact_.sum)};
        if (ofRuns.size() > 1) {
            finding.cells.emplace_back(different.size());
            finding.cells.emplace_back(relative(most - least));
        }
        if (std::fabs(worst - exact_.sum) > allowed) {
            finding.wrong = lab::formatted("the sum is %.9g, expected %.12g +- %.3g", worst,
                                           exact_.sum, allowed);
        } else if (repeated == kSameSum && different.size() > 1) {
            finding.wrong =
                lab::formatted("there are %zu different sums in %zu runs, but all must be the same",
                               different.size(), ofRuns.size());
        }
        return finding;
    }

    // Returns a check that runs a kernel `runs` times. sum() gives the result of the last run.
    template <typename Sum>
    lab::Check ofRuns(const lab::Ladder& ladder, std::size_t runs, double allowed,
                      Repeated repeated, Sum sum) const {
        return [=, &ladder] {
            std::vector<float> sums = {sum()};
            while (sums.size() < runs) {
                ladder.again();
                sums.push_back(sum());
            }
            return judge(sums, allowed, repeated);
        };
    }

  private:
    static constexpr double kUnit = 0x1p-24;  // a rounding changes a float by at most this share

    std::string relative(double difference) const {
        return lab::formatted("%.2e", difference == 0 ? 0 : std::fabs(difference / exact_.sum));
    }

    std::size_t count_;
    ExactSum exact_;
    bool nothingIsRounded_;
};
