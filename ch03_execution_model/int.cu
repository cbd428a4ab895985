// Doubles the numbers of an array. A warp is served best where its 32 lanes touch neighbouring
// addresses (coalescing), and that is a question of which thread takes which elements.
//
//   1 doubleChunks   a thread takes neighbouring elements: the lanes of a warp are far apart
//   2 doubleStrided  a thread takes every so many-th element: the lanes are neighbours
//
// This is a first version to begin with: put your idea, kernels and reference in place of these.
//
//   ./lab run int -- --size=4M
//   ./lab test int
//   ./lab profile int
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target int
//   build/ch03_execution_model/int --size=4M
//   ctest --test-dir build -L int
//   ncu build/ch03_execution_model/int --profile

#include <cstddef>
#include <vector>

#include "lab.cuh"

constexpr unsigned kPerThread = 8;  // elements of a thread

// Thread t takes the elements 8 t to 8 t + 7. Still wrong: in each turn the lanes of a warp are 32
// bytes apart, and its load touches 32 sectors of 32 bytes where 4 would do.
__global__ void doubleChunks(const float* __restrict__ in, float* __restrict__ out,
                             std::size_t size) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

    for (unsigned i = 0; i < kPerThread; ++i) {
        const std::size_t at = thread * kPerThread + i;
        if (at < size) out[at] = 2 * in[at];
    }
}

// A block has the same elements, but in each turn its threads take as many in a row.
__global__ void doubleStrided(const float* __restrict__ in, float* __restrict__ out,
                              std::size_t size) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kPerThread;

    for (unsigned i = 0; i < kPerThread; ++i) {
        const std::size_t at = first + i * blockDim.x + threadIdx.x;
        if (at < size) out[at] = 2 * in[at];
    }
}

// CPU reference.
std::vector<float> doubled(const std::vector<float>& in) {
    std::vector<float> out;
    for (const float value : in) out.push_back(2 * value);
    return out;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned block;
    lab::Exercise exercise("int", "Doubles numbers.");
    exercise.option("size", &size, {1 << 24, 1 << 16}, 1, lab::kMaxSize, "number of floats");
    exercise.option("block", &block, 256, 1, lab::kMaxBlock, "threads per block");
    exercise.parse(argc, argv);

    const std::vector<float> input = lab::randomFloats(size, exercise.seed(), -1, 1);
    const std::vector<float> expected = doubled(input);
    const lab::DeviceBuffer<float> source(input);
    lab::DeviceBuffer<float> target(size);
    const float* const in = source.get();
    float* const out = target.get();
    exercise.title("%s floats (%s), block %u", lab::withCommas(size).c_str(),
                   lab::inBytes(source.bytes()).c_str(), block);

    const unsigned grid = lab::blocksFor(size, std::size_t{kPerThread} * block);
    const lab::Work moved = lab::bytes(2.0 * source.bytes());  // each element is read and written
    // A power of two rounds nothing, so the tolerance is zero.
    const auto isDoubled = [&] { return lab::mismatch(target.toHost(), expected, 0); };

    lab::Ladder ladder(exercise, target);
    ladder.rung("doubleChunks", grid, block, moved, isDoubled,
                [&] { doubleChunks<<<grid, block>>>(in, out, size); });
    ladder.rung("doubleStrided", grid, block, moved, isDoubled,
                [&] { doubleStrided<<<grid, block>>>(in, out, size); });
    return exercise.finish();
}
