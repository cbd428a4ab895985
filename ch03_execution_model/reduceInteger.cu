// Sums n integers. First in place in global memory, where each block reduces its chunk of the array
// to one partial sum: which thread adds which pair, and how much work a thread has, decides how
// fast. Then in registers, where the limit is that of the memory.
//
//   1 reduceNeighbored            neighbours are added, every other thread drops out: warps diverge
//   2 reduceNeighboredLess        the same additions by consecutive threads: whole warps drop out
//   3 reduceInterleaved           additions half a chunk apart: consecutive threads and addresses
//   4 reduceUnrolling2, 4, 8      a thread first adds 2, 4 or 8 elements: more loads in flight
//   5 reduceUnrollWarps8          the last warp needs no block-wide barriers
//   6 reduceCompleteUnrollWarps8  no loop either
//   7 reduceCompleteUnroll8, 16   the block size is a template argument: no tests at run time
//   8 reduceShared                the tree is in shared memory: the input is read, nothing else
//   9 reduceShuffle               a warp adds its registers: one barrier, and hardly any memory
//  10 reduceOneLaunch             as many threads as the GPU holds, 16 bytes a load, and one result
//     cub::DeviceReduce::Sum      what NVIDIA's library makes of it
//
// The times are those of the kernels. Up to number 9 each leaves one partial sum per block, which
// the host adds up untimed; number 10 and CUB leave the sum.
//
//   cmake --build build --target reduceInteger
//   build/ch03_execution_model/reduceInteger --size=16M --block=512
//   ctest --test-dir build -R reduceInteger
//   ncu build/ch03_execution_model/reduceInteger --profile

#include <algorithm>
#include <cstddef>
#include <functional>
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

// Sum of this thread's element of each of kParts parts of the chunk, one blockDim.x long each. The
// last chunk may end anywhere: there, a loop adds what is left.
template <unsigned kParts>
__device__ int sumOfParts(const int* chunk, unsigned count) {
    const unsigned tid = threadIdx.x;
    int sum = 0;
    if (tid + (kParts - 1) * blockDim.x < count) {
#pragma unroll  // no loop is left, but kParts loads that do not wait for one another
        for (unsigned part = 0; part < kParts; ++part) sum += chunk[tid + part * blockDim.x];
    } else {
        for (unsigned i = tid; i < count; i += blockDim.x) sum += chunk[i];
    }
    return sum;
}

// Adds all parts into the first one. Returns how many elements that has.
template <unsigned kParts>
__device__ unsigned addParts(int* chunk, unsigned count) {
    if (threadIdx.x < count) chunk[threadIdx.x] = sumOfParts<kParts>(chunk, count);
    __syncthreads();
    return count < blockDim.x ? count : blockDim.x;
}

// No thread idles from the start, each has kParts loads in flight, and so many times fewer blocks
// do the job. What is left is the tree: its last six steps keep a single warp busy, and yet the
// whole block stops at a barrier after each.
template <unsigned kParts>
__global__ void reduceUnrolling(int* data, int* sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kParts;
    int* chunk = data + first;
    const unsigned count = addParts<kParts>(chunk, elementsOfChunk(first, kParts * blockDim.x, n));

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
// barriers. Still wrong: every step of the tree goes through global memory.
template <unsigned kBlock, unsigned kParts>
__global__ void reduceCompleteUnroll(int* data, int* sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * kBlock * kParts;
    int* chunk = data + first;
    const unsigned count = addParts<kParts>(chunk, elementsOfChunk(first, kParts * kBlock, n));

    if (kBlock >= 1024) foldAndSync(chunk, 512, count);
    if (kBlock >= 512) foldAndSync(chunk, 256, count);
    if (kBlock >= 256) foldAndSync(chunk, 128, count);
    if (kBlock >= 128) foldAndSync(chunk, 64, count);
    if (threadIdx.x < 32) reduceLastWarp(chunk, count);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// A template argument is fixed at compile time, --block is not: one instance for each size that it
// may have.
template <unsigned kParts>
void launchCompleteUnroll(unsigned grid, unsigned block, int* data, int* sums, std::size_t n) {
    if (block == 1024) reduceCompleteUnroll<1024, kParts><<<grid, block>>>(data, sums, n);
    if (block == 512) reduceCompleteUnroll<512, kParts><<<grid, block>>>(data, sums, n);
    if (block == 256) reduceCompleteUnroll<256, kParts><<<grid, block>>>(data, sums, n);
    if (block == 128) reduceCompleteUnroll<128, kParts><<<grid, block>>>(data, sums, n);
    if (block == 64) reduceCompleteUnroll<64, kParts><<<grid, block>>>(data, sums, n);
    if (block == 32) reduceCompleteUnroll<32, kParts><<<grid, block>>>(data, sums, n);
}

// The same tree in shared memory, which belongs to the block and lies within its multiprocessor. A
// thread keeps the sum of its parts in a register: the input is read once and stays as it is. Still
// wrong: a barrier after each step.
__global__ void reduceShared(const int* data, int* sums, std::size_t n) {
    __shared__ int tree[lab::kMaxBlock];
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * 16;
    tree[threadIdx.x] = sumOfParts<16>(data + first, elementsOfChunk(first, 16 * blockDim.x, n));
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        foldAndSync(tree, stride, blockDim.x);
    if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
}

constexpr unsigned kAllLanes = 0xFFFFFFFF;

// Sum of a warp's 32 values, in its lane 0: a lane adds the register of the lane `offset` above.
__device__ int sumOfWarp(int value) {
    for (unsigned offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(kAllLanes, value, offset);
    return value;
}

// Sum of a block's values, in its thread 0: each warp adds up its own, then warp 0 those of the
// warps (at most 32).
__device__ int sumOfBlock(int value) {
    __shared__ int ofWarps[32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = sumOfWarp(value);
    if (lane == 0) ofWarps[warp] = value;
    __syncthreads();
    if (warp == 0) value = sumOfWarp(lane < blockDim.x / 32 ? ofWarps[lane] : 0);
    return value;
}

// One barrier instead of ten. Still wrong: a block reads its chunk and is gone, the next one starts
// with nothing in flight; and the partial sums are not the sum.
__global__ void reduceShuffle(const int* data, int* sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * 16;
    const unsigned count = elementsOfChunk(first, 16 * blockDim.x, n);
    const int sum = sumOfBlock(sumOfParts<16>(data + first, count));
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

constexpr unsigned kLoads = 4;  // of 16 bytes, in flight in each thread of reduceOneLaunch

// What the blocks of reduceOneLaunch have added so far: their sum in the upper half, their number
// in the lower. 0 between two launches.
__device__ unsigned long long sumAndBlocks = 0;

// The blocks walk over the array together, whatever its size and theirs (a grid-stride loop). Each
// adds its sum, and 1 to the number of blocks, in a single atomic operation; the block that makes
// the number complete has the sum of all, and leaves 0 for the next launch. Blocks end in any
// order, but a sum of integers does not depend on it: the result is always the same.
__global__ void reduceOneLaunch(const int* data, int* result, std::size_t n) {
    const int4* const vectors = reinterpret_cast<const int4*>(data);  // aligned by cudaMalloc()
    const std::size_t count = n / 4, tile = std::size_t{kLoads} * blockDim.x;
    int sum = 0;
    std::size_t first = blockIdx.x * tile;
    for (; first + tile <= count; first += gridDim.x * tile) {
        int4 v[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) v[k] = vectors[first + k * blockDim.x + threadIdx.x];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    // The array ends in the turn of one block; the others are beyond the end.
    for (std::size_t i = 4 * first + threadIdx.x; i < n; i += blockDim.x) sum += data[i];

    sum = sumOfBlock(sum);
    if (threadIdx.x == 0) {
        const unsigned long long own = static_cast<unsigned long long>(sum) << 32 | 1;
        const unsigned long long all = atomicAdd(&sumAndBlocks, own) + own;
        if (static_cast<unsigned>(all) == gridDim.x) {
            *result = static_cast<int>(all >> 32);
            sumAndBlocks = 0;
        }
    }
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

    unsigned parts = 1;  // elements of a thread
    unsigned grid = 0;
    const auto useParts = [&](unsigned count) {
        parts = count;
        grid = lab::blocksFor(size, std::size_t{parts} * block);
    };
    exercise.check([&] {
        return lab::mismatch(partial.toHost(grid), sumsOfChunks(input, std::size_t{parts} * block));
    });
    const auto rung = [&](const char* name, const std::function<void()>& launch) {
        exercise.rung(name, grid, block, launch);
    };

    useParts(1);
    rung("reduceNeighbored", [&] { reduceNeighbored<<<grid, block>>>(data, sums, size); });
    rung("reduceNeighboredLess", [&] { reduceNeighboredLess<<<grid, block>>>(data, sums, size); });
    rung("reduceInterleaved", [&] { reduceInterleaved<<<grid, block>>>(data, sums, size); });
    useParts(2);
    rung("reduceUnrolling2", [&] { reduceUnrolling<2><<<grid, block>>>(data, sums, size); });
    useParts(4);
    rung("reduceUnrolling4", [&] { reduceUnrolling<4><<<grid, block>>>(data, sums, size); });
    useParts(8);
    rung("reduceUnrolling8", [&] { reduceUnrolling<8><<<grid, block>>>(data, sums, size); });
    rung("reduceUnrollWarps8", [&] { reduceUnrollWarps8<<<grid, block>>>(data, sums, size); });
    rung("reduceCompleteUnrollWarps8",
         [&] { reduceCompleteUnrollWarps8<<<grid, block>>>(data, sums, size); });
    rung("reduceCompleteUnroll8", [&] { launchCompleteUnroll<8>(grid, block, data, sums, size); });
    useParts(16);
    rung("reduceCompleteUnroll16",
         [&] { launchCompleteUnroll<16>(grid, block, data, sums, size); });
    rung("reduceShared", [&] { reduceShared<<<grid, block>>>(data, sums, size); });
    rung("reduceShuffle", [&] { reduceShuffle<<<grid, block>>>(data, sums, size); });

    // Enough blocks to fill the GPU, and no more than four tiles for each: a block that is done
    // makes room for the next, and no multiprocessor waits for the slowest.
    const unsigned tiles = lab::blocksFor(size, std::size_t{4 * kLoads} * block);
    const unsigned resident = exercise.device().residentBlocks(block);
    grid = std::min(tiles, std::max(resident, tiles / 4));
    exercise.check([&] { return lab::mismatch(partial.toHost(1), sumsOfChunks(input, size)); });
    rung("reduceOneLaunch", [&] { reduceOneLaunch<<<grid, block>>>(data, sums, size); });
    lab::cubSum(exercise, source.get(), sums, size);
    return exercise.finish();
}
