#pragma once
// An array on both sides of the link between host and device, and what is right there.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "lab.cuh"
#include "pipeline.h"

struct RoundTrip {
    std::unique_ptr<unsigned[]> input, pageable;  // memory that is not pinned
    lab::PinnedBuffer<unsigned> pinnedInput, pinned;
    lab::DeviceBuffer<unsigned> before, behind;  // the kernel
    std::function<unsigned(unsigned)> resultOf;  // what comes back of an element

    RoundTrip(std::size_t size, std::uint64_t seed, std::function<unsigned(unsigned)> resultOf)
        : input(new unsigned[size]),
          pageable(new unsigned[size]),
          pinnedInput(size),
          pinned(size),
          before(size),
          behind(size),
          resultOf(std::move(resultOf)) {
        onAllCores([&](std::size_t i) {
            input[i] = pinnedInput[i] = static_cast<unsigned>(lab::randomBits(seed, i));
        });
    }
    std::size_t size() const { return pinned.size(); }
    unsigned expected(std::size_t i) const { return resultOf(input[i]); }

    const unsigned* source(const pipeline::Way& way) const {
        return way.memory == pipeline::kPageable ? input.get() : pinnedInput.get();
    }
    unsigned* result(const pipeline::Way& way) {
        return way.memory == pipeline::kPageable ? pageable.get() : pinned.get();
    }

    // What the stages would have left that this way goes without.
    void provide(const pipeline::Way& way) {
        using namespace pipeline;
        const std::size_t bytes = size() * sizeof(unsigned);
        if (way.has(kKernel) && !way.has(kIn))
            CUDA_CHECK(cudaMemcpy(before.get(), source(way), bytes, cudaMemcpyHostToDevice));
        if (way.has(kKernel) || (!way.has(kOut) && !way.has(kHost))) return;
        unsigned* const values = result(way);
        onAllCores([&](std::size_t i) { values[i] = expected(i); });
        if (way.has(kOut))
            CUDA_CHECK(cudaMemcpy(behind.get(), values, bytes, cudaMemcpyHostToDevice));
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
        const auto wanted = [&](std::size_t i) { return expected(i); };
        std::string found;
        if (way.has(kIn) && !way.has(kKernel))
            found = lab::mismatchOf(before, [&](std::size_t i) { return input[i]; });
        if (way.has(kKernel) && !way.has(kOut)) found = lab::mismatchOf(behind, wanted);
        if (found.empty() && way.has(kOut)) found = lab::mismatchOf(result(way), size(), wanted);
        return found;
    }

    // Of what the host has read: as many sums for each piece as threads have read it.
    std::string wrongSums(const pipeline::Way& way, const std::vector<unsigned>& sums) const {
        const std::size_t threads = sums.size() / way.pieces;
        for (unsigned p = 0; p < way.pieces; ++p) {
            const pipeline::Piece piece = pipeline::pieceOf(size(), way.pieces, p);
            std::atomic<unsigned> wanted{0};
            lab::parallelFor(piece.size, 1 << 16, [&](std::size_t begin, std::size_t end) {
                unsigned part = 0;
                for (std::size_t i = begin; i < end; ++i) part += expected(piece.begin + i);
                wanted += part;
            });
            const auto ofPiece = sums.begin() + p * threads;
            const unsigned sum = std::accumulate(ofPiece, ofPiece + threads, 0u);
            if (sum == wanted) continue;
            return lab::formatted("the host has %u as the sum of piece %u, expected %u", sum, p,
                                  wanted.load());
        }
        return "";
    }

  private:
    template <typename Work>
    void onAllCores(const Work& work) const {
        lab::parallelFor(size(), 1 << 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) work(i);
        });
    }
};
