#pragma once
// An array on both sides of the link between host and device, and what is right there.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "lab.cuh"
#include "pipeline.h"

struct RoundTrip {
    std::vector<unsigned> input, expected;
    std::vector<unsigned> pageable;  // as everything that malloc() gives; so is `input`
    lab::PinnedBuffer<unsigned> pinnedInput, pinned;
    lab::DeviceBuffer<unsigned> before, behind;  // the kernel

    // `resultOf` is what comes back of an element.
    template <typename ResultOf>
    RoundTrip(std::size_t size, std::uint64_t seed, const ResultOf& resultOf)
        : input(lab::hostVector<unsigned>(size)),
          expected(lab::hostVector<unsigned>(size)),
          pageable(lab::hostVector<unsigned>(size)),
          pinnedInput(size),
          pinned(size),
          before(size),
          behind(size) {
        lab::parallelFor(size, 1 << 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                input[i] = pinnedInput[i] = static_cast<unsigned>(lab::randomBits(seed, i));
                expected[i] = resultOf(input[i]);
            }
        });
    }
    std::size_t size() const { return input.size(); }

    const unsigned* source(const pipeline::Way& way) const {
        return way.memory == pipeline::kPageable ? input.data() : pinnedInput.get();
    }
    unsigned* result(const pipeline::Way& way) {
        return way.memory == pipeline::kPageable ? pageable.data() : pinned.get();
    }

    // What the stages would have left that this way goes without.
    void provide(const pipeline::Way& way) {
        using namespace pipeline;
        if (way.has(kKernel) && !way.has(kIn)) before.copyFrom(input);
        if (way.has(kOut) && !way.has(kKernel)) behind.copyFrom(expected);
        if (way.has(kHost) && !way.has(kOut))
            std::copy(expected.begin(), expected.end(), result(way));
    }

    // Nothing is left of what an earlier run wrote where this one will.
    void poison(const pipeline::Way& way) {
        const int byte = lab::poisonByte<unsigned>();
        if (way.has(pipeline::kIn)) before.fillBytes(byte);
        if (way.has(pipeline::kKernel)) behind.fillBytes(byte);
        if (way.has(pipeline::kOut)) {
            lab::parallelFor(size(), 1 << 16, [&](std::size_t begin, std::size_t end) {
                std::memset(result(way) + begin, byte, (end - begin) * sizeof(unsigned));
            });
        }
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    // Looks at what no further stage has read.
    std::string wrong(const pipeline::Way& way) {
        using namespace pipeline;
        std::string found;
        if (way.has(kIn) && !way.has(kKernel)) found = lab::mismatch(before.toHost(), input);
        if (way.has(kKernel) && !way.has(kOut)) found = lab::mismatch(behind.toHost(), expected);
        if (found.empty() && way.has(kOut))
            found = lab::mismatch({result(way), result(way) + size()}, expected);
        return found;
    }

    // Of what the host has read: as many sums for each piece as threads have read it.
    std::string wrongSums(const pipeline::Way& way, const std::vector<unsigned>& sums) const {
        const std::size_t threads = sums.size() / way.pieces;
        for (unsigned p = 0; p < way.pieces; ++p) {
            const pipeline::Piece piece = pipeline::pieceOf(size(), way.pieces, p);
            const auto begin = expected.begin() + piece.begin;
            const auto ofPiece = sums.begin() + p * threads;
            const unsigned wanted = std::accumulate(begin, begin + piece.size, 0u);
            const unsigned sum = std::accumulate(ofPiece, ofPiece + threads, 0u);
            if (sum == wanted) continue;
            return lab::formatted("the host has %u as the sum of piece %u, expected %u", sum, p,
                                  wanted);
        }
        return "";
    }
};
