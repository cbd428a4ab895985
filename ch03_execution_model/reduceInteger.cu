// Sums n integers. Each block reduces its chunk of the array, in place in global memory, to one
// partial sum; which thread adds which pair, and how much work a thread has, decides how fast.
//
//   1 reduceNeighbored            neighbours are added, every other thread drops out: warps diverge
//   2 reduceNeighboredLess        the same additions by consecutive threads: whole warps drop out
//   3 reduceInterleaved           additions half a chunk apart: consecutive threads and addresses
//   4 reduceUnrolling2, 4, 8      a thread first adds 2, 4 or 8 elements: more loads in flight
//   5 reduceUnrollWarps8          the last warp needs no block-wide barriers
//   6 reduceCompleteUnrollWarps8  no loop either
//   7 reduceCompleteUnroll        the block size is a template argument: no tests at run time
//     cub::DeviceReduce::Sum      what NVIDIA's library makes of it
//
// The times are those of the kernels. Each leaves one partial sum per block, which the host adds up
// untimed; CUB's time includes this step.
//
//   cmake --build build --target reduceInteger
//   build/ch03_execution_model/reduceInteger --size=16M --block=512
//   ctest --test-dir build -R reduceInteger
//   ncu build/ch03_execution_model/reduceInteger --profile

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "lab.cuh"
#include "peers_cub.cuh"

// Number of elements of the chunk that begins at `first` and has `length`, unless the array ends
// before.
__device__ unsigned elementsOfChunk(std::size_t first, unsigned length, std::size_t n) {
    return n - first < length ? static_cast<unsigned>(n - first) : length;
}

// Divergent: from the first step on, every warp has threads that add and threads that wait for
// them.
__global__ void reduceNeighbored(int* data, int* sums, std::size_t n) {
    const unsigned tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    int* chunk = data + first;
    const unsigned count = elementsOfChunk(first, blockDim.x, n);

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0 && tid + stride < count) chunk[tid] += chunk[tid + stride];
        __syncthreads();  // every thread comes here, also those that have no element left
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// Threads 0, 1, 2 ... do the additions, so only the last few steps split a warp. Still wrong: the
// addresses of a warp lie 2 * stride apart, and each step spreads them over more memory
// transactions.
__global__ void reduceNeighboredLess(int* data, int* sums, std::size_t n) {
    const unsigned tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    int* chunk = data + first;
    const unsigned count = elementsOfChunk(first, blockDim.x, n);

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned i = 2 * stride * tid;
        if (i + stride < count) chunk[i] += chunk[i + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// Coalesced: the distance is halved instead of doubled, and the addresses of a warp are
// consecutive. Still wrong: half of the threads only wait, from the first step on.
__global__ void reduceInterleaved(int* data, int* sums, std::size_t n) {
    const unsigned tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    int* chunk = data + first;
    const unsigned count = elementsOfChunk(first, blockDim.x, n);

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride && tid + stride < count) chunk[tid] += chunk[tid + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// One step of reduceInterleaved, which all kernels below share.
__device__ void fold(int* chunk, unsigned stride, unsigned count) {
    const unsigned tid = threadIdx.x;
    if (tid < stride && tid + stride < count) chunk[tid] += chunk[tid + stride];
}

__device__ void foldAndSync(int* chunk, unsigned stride, unsigned count) {
    fold(chunk, stride, count);
    __syncthreads();
}

// Every thread adds once before the tree begins, and half as many blocks do the job. A thread has
// two independent loads in flight; the memory could serve more.
__global__ void reduceUnrolling2(int* data, int* sums, std::size_t n) {
    const unsigned tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * 2;
    int* chunk = data + first;
    const unsigned count = elementsOfChunk(first, 2 * blockDim.x, n);

    if (tid + blockDim.x < count) chunk[tid] += chunk[tid + blockDim.x];
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        foldAndSync(chunk, stride, count);
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// The same for any number of parts, each blockDim.x long: they are added into the first. Returns
// how many elements that has. The last chunk may end anywhere: there, a loop adds what is left.
template <unsigned kParts>
__device__ unsigned addParts(int* chunk, unsigned count) {
    const unsigned tid = threadIdx.x;
    if (tid + (kParts - 1) * blockDim.x < count) {
        int sum = 0;
#pragma unroll  // no loop is left, but kParts loads that do not wait for one another
        for (unsigned part = 0; part < kParts; ++part) sum += chunk[tid + part * blockDim.x];
        chunk[tid] = sum;
    } else {
        for (unsigned i = tid + blockDim.x; i < count; i += blockDim.x) chunk[tid] += chunk[i];
    }
    __syncthreads();
    return count < blockDim.x ? count : blockDim.x;
}

// Four loads in flight.
__global__ void reduceUnrolling4(int* data, int* sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * 4;
    int* chunk = data + first;
    const unsigned count = addParts<4>(chunk, elementsOfChunk(first, 4 * blockDim.x, n));

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        foldAndSync(chunk, stride, count);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// Eight. What is left is the tree: its last six steps keep a single warp busy, and yet the whole
// block stops at a barrier after each.
__global__ void reduceUnrolling8(int* data, int* sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * 8;
    int* chunk = data + first;
    const unsigned count = addParts<8>(chunk, elementsOfChunk(first, 8 * blockDim.x, n));

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        foldAndSync(chunk, stride, count);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// The last 64 elements, by warp 0 alone. Textbooks let all 32 lanes add through a volatile pointer
// and rely on lanes moving in lockstep. Since Volta each thread has its own program counter: lane 0
// may read element 16 before or after lane 16 has changed it, and volatile does not order lanes, it
// only keeps values out of registers. __syncwarp() does order them: what any lane wrote before it,
// every lane sees after it.
__device__ void reduceLastWarp(int* chunk, unsigned count) {
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        fold(chunk, stride, count);
        __syncwarp();
    }
}

// Six barriers of the block fewer: the other warps leave early. The loop above the last warp is
// still a loop.
__global__ void reduceUnrollWarps8(int* data, int* sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * 8;
    int* chunk = data + first;
    const unsigned count = addParts<8>(chunk, elementsOfChunk(first, 8 * blockDim.x, n));

    for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2)
        foldAndSync(chunk, stride, count);
    if (threadIdx.x < 32) reduceLastWarp(chunk, count);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// A block has at most 1024 threads, so that loop has at most four steps: written out, its counter
// is gone. The tests of blockDim.x stay, for the compiler cannot know how they end. (The barriers
// within are legal: all threads of a block agree on blockDim.x.)
__global__ void reduceCompleteUnrollWarps8(int* data, int* sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * 8;
    int* chunk = data + first;
    const unsigned count = addParts<8>(chunk, elementsOfChunk(first, 8 * blockDim.x, n));

    if (blockDim.x >= 1024) foldAndSync(chunk, 512, count);
    if (blockDim.x >= 512) foldAndSync(chunk, 256, count);
    if (blockDim.x >= 256) foldAndSync(chunk, 128, count);
    if (blockDim.x >= 128) foldAndSync(chunk, 64, count);
    if (threadIdx.x < 32) reduceLastWarp(chunk, count);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// The compiler knows the block size: the steps that it does not need disappear, with their
// barriers. Still wrong: every partial sum goes through global memory; shared memory and shuffles
// are closer.
template <unsigned kBlock>
__global__ void reduceCompleteUnroll(int* data, int* sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * kBlock * 8;
    int* chunk = data + first;
    const unsigned count = addParts<8>(chunk, elementsOfChunk(first, 8 * kBlock, n));

    if (kBlock >= 1024) foldAndSync(chunk, 512, count);
    if (kBlock >= 512) foldAndSync(chunk, 256, count);
    if (kBlock >= 256) foldAndSync(chunk, 128, count);
    if (kBlock >= 128) foldAndSync(chunk, 64, count);
    if (threadIdx.x < 32) reduceLastWarp(chunk, count);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// A template argument is fixed at compile time, --block is not: one instance for each size that it
// may have.
void launchCompleteUnroll(unsigned grid, unsigned block, int* data, int* sums, std::size_t n) {
    if (block == 1024) reduceCompleteUnroll<1024><<<grid, block>>>(data, sums, n);
    if (block == 512) reduceCompleteUnroll<512><<<grid, block>>>(data, sums, n);
    if (block == 256) reduceCompleteUnroll<256><<<grid, block>>>(data, sums, n);
    if (block == 128) reduceCompleteUnroll<128><<<grid, block>>>(data, sums, n);
    if (block == 64) reduceCompleteUnroll<64><<<grid, block>>>(data, sums, n);
    if (block == 32) reduceCompleteUnroll<32><<<grid, block>>>(data, sums, n);
}

// CPU reference: the sum of each chunk of `length` elements; the last one may be shorter.
std::vector<int> sumsOfChunks(const std::vector<int>& input, std::size_t length) {
    std::vector<int> sums;
    for (std::size_t first = 0; first < input.size(); first += length) {
        const std::size_t last = std::min(input.size(), first + length);
        sums.push_back(std::accumulate(input.begin() + first, input.begin() + last, 0));
    }
    return sums;
}

int main(int argc, char** argv) {
    std::size_t size = lab::perBackend(std::size_t{1} << 24, std::size_t{1} << 18);
    unsigned block = 512;
    lab::Exercise exercise("reduceInteger", "Sums integers, each kernel faster than the last.");
    exercise.option("size", &size, 1, lab::kMaxSize, "number of integers");
    exercise.option("block", &block, 32, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);

    // Around zero, so that sums stay small: an int holds the sum of as many as fit into memory.
    const std::vector<int> input = lab::randomInts(size, exercise.seed(), -100, 100);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> work(size);
    lab::DeviceBuffer<int> partial(lab::blocksFor(size, block));
    int* const data = work.get();
    int* const sums = partial.get();

    exercise.title("%s ints (%s), block %u", lab::withCommas(size).c_str(),
                   lab::inBytes(work.bytes()).c_str(), block);
    exercise.bytesPerRun(work.bytes());
    exercise.output(partial);
    exercise.prepare([&] { work.copyFrom(source); });  // in place: every run needs fresh input

    unsigned unroll = 1;
    unsigned grid = 0;
    const auto useUnroll = [&](unsigned elementsPerThread) {
        unroll = elementsPerThread;
        grid = lab::blocksFor(size, std::size_t{unroll} * block);
    };
    exercise.check([&] {
        return lab::mismatch(partial.toHost(grid),
                             sumsOfChunks(input, std::size_t{unroll} * block));
    });

    useUnroll(1);
    exercise.rung("reduceNeighbored", grid, block,
                  [&] { reduceNeighbored<<<grid, block>>>(data, sums, size); });
    exercise.rung("reduceNeighboredLess", grid, block,
                  [&] { reduceNeighboredLess<<<grid, block>>>(data, sums, size); });
    exercise.rung("reduceInterleaved", grid, block,
                  [&] { reduceInterleaved<<<grid, block>>>(data, sums, size); });
    useUnroll(2);
    exercise.rung("reduceUnrolling2", grid, block,
                  [&] { reduceUnrolling2<<<grid, block>>>(data, sums, size); });
    useUnroll(4);
    exercise.rung("reduceUnrolling4", grid, block,
                  [&] { reduceUnrolling4<<<grid, block>>>(data, sums, size); });
    useUnroll(8);
    exercise.rung("reduceUnrolling8", grid, block,
                  [&] { reduceUnrolling8<<<grid, block>>>(data, sums, size); });
    exercise.rung("reduceUnrollWarps8", grid, block,
                  [&] { reduceUnrollWarps8<<<grid, block>>>(data, sums, size); });
    exercise.rung("reduceCompleteUnrollWarps8", grid, block,
                  [&] { reduceCompleteUnrollWarps8<<<grid, block>>>(data, sums, size); });
    exercise.rung("reduceCompleteUnroll", grid, block,
                  [&] { launchCompleteUnroll(grid, block, data, sums, size); });

    exercise.check([&] { return lab::mismatch(partial.toHost(1), sumsOfChunks(input, size)); });
    lab::cubSum(exercise, source.get(), sums, size);
    return exercise.finish();
}
