// Adds two arrays on the GPU: c[i] = a[i] + b[i]. The addition is trivial, so you can think about
// the question that every kernel begins with: which thread takes which elements?
//
//   1 addOneThread   one thread adds all elements, as a CPU would
//   2 addOneBlock    the threads of one block share the elements
//   3 addManyBlocks  each thread adds one element, in as many blocks as that takes
//   4 addGridStride  each thread adds several elements, in as many blocks as the GPU holds
//
// The speedup is relative to the first row.
//
//   ./lab run firstKernel
//   ./lab run firstKernel -- --size=16M --block=128
//   ./lab test firstKernel
//   ./lab profile firstKernel
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target firstKernel
//   build/ch03_execution_model/firstKernel --size=16M
//   ncu build/ch03_execution_model/firstKernel --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/firstKernel/firstKernel.cu
//       common/*.cpp common/*.cu -o build/firstKernel

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lab.cuh"

// In all kernels, a, b and c are arrays of n floats in device memory. The index of an element is a
// std::size_t, which has 64 bits, since an array may have more elements than 32 bits can count.

// A single thread does what a loop on the CPU does. This wastes the GPU, which could execute
// thousands of threads at a time.
__global__ void addOneThread(const float* a, const float* b, float* c, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

// Thread t of the block adds the elements t, t + blockDim.x, t + 2 blockDim.x and so on. The
// threads work at the same time. But a block runs on one multiprocessor of the GPU, and the others
// have nothing to do.
__global__ void addOneBlock(const float* a, const float* b, float* c, std::size_t n) {
    for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
}

// Every block takes the next blockDim.x elements, and each of its threads adds one of them. Now all
// multiprocessors have blocks. The last block may have more threads than there are elements left:
// the bounds check keeps these threads from accessing memory behind the arrays.
__global__ void addManyBlocks(const float* a, const float* b, float* c, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// This is a grid-stride loop. A thread begins with the element of kernel 3, and its step is the
// number of threads in the whole grid. The result is right for any number of blocks, so the host is
// free to choose one that fits the GPU. The condition of the loop is the bounds check.
__global__ void addGridStride(const float* a, const float* b, float* c, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = first; i < n; i += threads) c[i] = a[i] + b[i];
}

// Adds the arrays on the CPU, as the reference for the check.
std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> c = lab::hostVector<float>(a.size());
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = a[i] + b[i];
    return c;
}

int main(int argc, char** argv) {
    std::size_t n;
    unsigned block;
    lab::Exercise exercise("firstKernel", "Adds two arrays, with one thread and with many.");
    exercise.option("size", &n, {1 << 20, 1 << 14}, 1, lab::kMaxSize, "elements of an array");
    exercise.option("block", &block, 256, 1, lab::kMaxBlock, "threads per block");
    exercise.parse(argc, argv);

    // These are the host's arrays and their copies on the device. A DeviceBuffer calls
    // cudaMalloc(), cudaMemcpy() and cudaFree().
    const std::vector<float> hostA = lab::randomFloats(n, exercise.seed(), -1, 1);
    const std::vector<float> hostB = lab::randomFloats(n, exercise.seed() + 1, -1, 1);
    const lab::DeviceBuffer<float> bufferA(hostA), bufferB(hostB);
    lab::DeviceBuffer<float> bufferC(n);
    const float *const a = bufferA.get(), *const b = bufferB.get();
    float* const c = bufferC.get();
    exercise.title("%s floats (3 times %s), block %u", lab::withCommas(n).c_str(),
                   lab::inBytes(bufferC.bytes()).c_str(), block);

    const lab::Work moved = lab::bytes(3.0 * bufferC.bytes());  // a kernel reads two and writes one
    const std::vector<float> expected = sums(hostA, hostB);
    // CPU and GPU round an addition the same way, so the tolerance is zero.
    const auto isTheSum = [&] { return lab::mismatch(bufferC, expected, 0); };

    lab::Ladder ladder(exercise, bufferC);
    ladder.rung("addOneThread", 1, 1, moved, isTheSum, [&] { addOneThread<<<1, 1>>>(a, b, c, n); });
    ladder.rung("addOneBlock", 1, block, moved, isTheSum,
                [&] { addOneBlock<<<1, block>>>(a, b, c, n); });
    const unsigned grid = lab::blocksFor(n, block);  // n / block, rounded up
    ladder.rung("addManyBlocks", grid, block, moved, isTheSum,
                [&] { addManyBlocks<<<grid, block>>>(a, b, c, n); });
    const unsigned fewerBlocks = std::min(grid, exercise.device().residentBlocks(block));
    ladder.rung("addGridStride", fewerBlocks, block, moved, isTheSum,
                [&] { addGridStride<<<fewerBlocks, block>>>(a, b, c, n); });
    return exercise.finish();
}
