// Sums n integers. The first kernels reduce in place in global memory: each block reduces its chunk
// of the array to one partial sum. Their speed depends on which thread adds which pair, and on how
// much work a thread has. The last kernels add in registers, as fast as the memory delivers.
//
//   1 reduceNeighbored            adds neighbours; every other thread drops out, so warps diverge
//   2 reduceNeighboredLess        adds the same pairs with consecutive threads, so warps drop out
//   3 reduceInterleaved           adds elements half a chunk apart, so loads are coalesced
//   4 reduceUnrolling2, 4, 8      first adds 2, 4 or 8 elements per thread, with more in flight
//   5 reduceLoop8                 adds these 8 elements in a loop, with one load in flight
//   6 reduceUnrollWarps8          needs no block-wide barriers for the last warp
//   7 reduceCompleteUnrollWarps8  has no loop left
//   8 reduceCompleteUnroll8, 16   has the block size as a template argument, so it needs no tests
//   9 reduceShared                keeps the tree in shared memory, and only reads the input
//  10 reduceShuffle               adds registers of a warp, with one barrier and hardly any memory
//     shuffleThenHost             launches reduceShuffle; the host copies the sums and adds them
//  11 reduceOneLaunch             fills the GPU, loads 16 bytes at a time, and leaves one result
//     cub::DeviceReduce::Sum      calls NVIDIA's library
//
// Kernels 1 to 10 leave a partial sum for each block, and their times cover the kernels alone. The
// time of shuffleThenHost covers a whole sum: the launch, the copy, and the additions on the host.
// Number 11 and CUB leave the sum itself, so their times cover a whole sum, too.
//
//   ./lab run reduceInteger -- --size=16M --block=512
//   ./lab test reduceInteger
//   ./lab profile reduceInteger
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target reduceInteger
//   build/ch03_execution_model/reduceInteger --size=16M --block=512
//   ncu build/ch03_execution_model/reduceInteger --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/reduceInteger/reduceInteger.cu
//       common/*.cpp common/*.cu -o build/reduceInteger

#include <cstddef>
#include <numeric>
#include <vector>

#include "lab.cuh"
#include "peers_cub.cuh"

// Kernels 1 to 10: each block reduces a chunk of the array. It is blockDim.x elements long, or
// several times that. Zeros fill the last chunk. They add nothing, so no kernel looks for the end
// of the array.

// Adds neighbours: thread 0 adds element 1 to element 0, thread 2 adds 3 to 2, and so on. Still
// wrong: every second thread has nothing to do, so every warp diverges.
__global__ void reduceNeighbored(int* data, int* sums) {
    const unsigned tid = threadIdx.x;
    int* const chunk = data + std::size_t{blockIdx.x} * blockDim.x;

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) chunk[tid] += chunk[tid + stride];
        __syncthreads();  // all threads of the block call this, also those that add nothing
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// Threads 0, 1, 2 and so on do the same additions. Whole warps drop out, and only the last few
// steps split a warp. Still wrong: the elements of a warp lie 2 * stride apart, so a load touches
// more sectors from step to step.
__global__ void reduceNeighboredLess(int* data, int* sums) {
    const unsigned tid = threadIdx.x;
    int* const chunk = data + std::size_t{blockIdx.x} * blockDim.x;

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned i = 2 * stride * tid;
        if (i < blockDim.x) chunk[i] += chunk[i + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// The loop halves the stride instead of doubling it. So consecutive threads add consecutive
// elements, and the loads are coalesced. Still wrong: half of the threads never add anything.
__global__ void reduceInterleaved(int* data, int* sums) {
    const unsigned tid = threadIdx.x;
    int* const chunk = data + std::size_t{blockIdx.x} * blockDim.x;

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) chunk[tid] += chunk[tid + stride];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = chunk[0];
}

// Executes one step of reduceInterleaved. Kernels 4 to 9 share it.
__device__ void foldAndSync(int* chunk, unsigned stride) {
    if (threadIdx.x < stride) chunk[threadIdx.x] += chunk[threadIdx.x + stride];
    __syncthreads();
}

// The chunk has kParts parts of blockDim.x elements. Returns this thread's sum of one element from
// each part.
template <unsigned kParts>
__device__ int sumOfParts(const int* chunk) {
    int sum = 0;
#pragma unroll  // the loop becomes kParts loads that do not wait for each other
    for (unsigned part = 0; part < kParts; ++part) sum += chunk[threadIdx.x + part * blockDim.x];
    return sum;
}

// Adds all parts into the first one.
template <unsigned kParts>
__device__ void addParts(int* chunk) {
    chunk[threadIdx.x] = sumOfParts<kParts>(chunk);
    __syncthreads();
}

// Each thread first adds kParts elements. So every thread works and has kParts loads in flight, and
// the grid has kParts times fewer blocks. Still wrong: the last six steps of the tree keep a single
// warp busy, and yet the whole block waits at a barrier after each.
template <unsigned kParts>
__global__ void reduceUnrolling(int* data, int* sums) {
    int* const chunk = data + std::size_t{blockIdx.x} * blockDim.x * kParts;
    addParts<kParts>(chunk);

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) foldAndSync(chunk, stride);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// This is a step back, to show what unrolling is good for. Each thread adds the same 8 elements in
// a loop, as a CPU program would. The loop adds each element before it loads the next one, so a
// thread has one load in flight, not eight. (Without the pragma the compiler unrolls this loop by
// itself.)
__global__ void reduceLoop8(int* data, int* sums) {
    int* const chunk = data + std::size_t{blockIdx.x} * blockDim.x * 8;
    const int* element = chunk + threadIdx.x;
    int sum = 0;
#pragma unroll 1
    for (unsigned part = 0; part < 8; ++part) {
        sum += *element;
        element += blockDim.x;
    }
    chunk[threadIdx.x] = sum;
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) foldAndSync(chunk, stride);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// Warp 0 adds up the last 64 elements by itself. Textbooks let all 32 lanes add through a volatile
// pointer, and rely on lanes that move in lockstep. Since Volta each thread has its own program
// counter. Lane 0 may read element 16 before or after lane 16 has changed it, and volatile does not
// order lanes: it only keeps values out of registers. __syncwarp() orders them. What any lane wrote
// before it, every lane sees after it. (A block of 32 threads has no element 32 to add.)
__device__ void reduceLastWarp(int* chunk) {
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        if (threadIdx.x < stride && stride < blockDim.x)
            chunk[threadIdx.x] += chunk[threadIdx.x + stride];
        __syncwarp();
    }
}

// This kernel has six block-wide barriers fewer, and all warps but the first leave early. Still
// wrong: the steps above the last warp are a loop, with a counter and a test in each step.
__global__ void reduceUnrollWarps8(int* data, int* sums) {
    int* const chunk = data + std::size_t{blockIdx.x} * blockDim.x * 8;
    addParts<8>(chunk);

    for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2) foldAndSync(chunk, stride);
    if (threadIdx.x < 32) reduceLastWarp(chunk);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// A block has at most 1024 threads, so that loop has at most four steps. This kernel writes the
// steps out, so it needs no counter. Still wrong: the compiler does not know blockDim.x, so the
// kernel makes each test at run time. (The barriers in foldAndSync() are legal here: all threads of
// a block agree on blockDim.x.)
__global__ void reduceCompleteUnrollWarps8(int* data, int* sums) {
    int* const chunk = data + std::size_t{blockIdx.x} * blockDim.x * 8;
    addParts<8>(chunk);

    if (blockDim.x >= 1024) foldAndSync(chunk, 512);
    if (blockDim.x >= 512) foldAndSync(chunk, 256);
    if (blockDim.x >= 256) foldAndSync(chunk, 128);
    if (blockDim.x >= 128) foldAndSync(chunk, 64);
    if (threadIdx.x < 32) reduceLastWarp(chunk);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// The block size is a template argument, so the compiler removes the tests, and the steps that a
// block of this size does not have. Still wrong: every step of the tree goes through global memory.
template <unsigned kBlock, unsigned kParts>
__global__ void reduceCompleteUnroll(int* data, int* sums) {
    int* const chunk = data + std::size_t{blockIdx.x} * kBlock * kParts;
    addParts<kParts>(chunk);

    if (kBlock >= 1024) foldAndSync(chunk, 512);
    if (kBlock >= 512) foldAndSync(chunk, 256);
    if (kBlock >= 256) foldAndSync(chunk, 128);
    if (kBlock >= 128) foldAndSync(chunk, 64);
    if (threadIdx.x < 32) reduceLastWarp(chunk);
    if (threadIdx.x == 0) sums[blockIdx.x] = chunk[0];
}

// A template argument is known at compile time, and --block is not. So there is one instance for
// each size that a block may have.
template <unsigned kParts>
void launchCompleteUnroll(unsigned grid, unsigned block, int* data, int* sums) {
    if (block == 1024) reduceCompleteUnroll<1024, kParts><<<grid, block>>>(data, sums);
    if (block == 512) reduceCompleteUnroll<512, kParts><<<grid, block>>>(data, sums);
    if (block == 256) reduceCompleteUnroll<256, kParts><<<grid, block>>>(data, sums);
    if (block == 128) reduceCompleteUnroll<128, kParts><<<grid, block>>>(data, sums);
    if (block == 64) reduceCompleteUnroll<64, kParts><<<grid, block>>>(data, sums);
    if (block == 32) reduceCompleteUnroll<32, kParts><<<grid, block>>>(data, sums);
}

// Keeps the same tree in shared memory, which lies within the multiprocessor. A thread keeps the
// sum of its parts in a register, so the kernel reads the input once and never writes it. Still
// wrong: all warps wait at a barrier after each step.
__global__ void reduceShared(const int* data, int* sums) {
    __shared__ int tree[lab::kMaxBlock];
    tree[threadIdx.x] = sumOfParts<16>(data + std::size_t{blockIdx.x} * blockDim.x * 16);
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) foldAndSync(tree, stride);
    if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
}

// Needs one barrier instead of ten: the lanes of a warp read each other's registers
// (lab::sumOfBlock() in common/warp_sum.cuh). Still wrong: the partial sums are not the sum. Either
// the host must copy and add them, or another kernel must add them.
__global__ void reduceShuffle(const int* data, int* sums) {
    const int* const chunk = data + std::size_t{blockIdx.x} * blockDim.x * 16;
    const int sum = lab::sumOfBlock(sumOfParts<16>(chunk));
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

constexpr unsigned kLoads = 4;  // 16-byte loads that a thread of reduceOneLaunch has in flight

// Each block of reduceOneLaunch adds to this word. The upper half holds the sum so far, and the
// lower half holds the number of blocks so far. The word is 0 between two launches.
__device__ unsigned long long sumAndBlocks = 0;

// In a grid-stride loop, the blocks go through the array together, whatever the sizes of the array
// and of the blocks. The array may end anywhere, and this kernel needs no zeros after it. Each
// block adds its sum, and 1 to the number of blocks, in a single atomic operation. The block that
// makes the number complete has the sum of all blocks. It leaves 0 for the next launch. Blocks end
// in any order, but a sum of integers does not depend on the order, so the result is always the
// same.
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
    // One block has stopped before the last, incomplete tile. All others are beyond the end.
    for (std::size_t i = 4 * first + threadIdx.x; i < n; i += blockDim.x) sum += data[i];

    sum = lab::sumOfBlock(sum);
    if (threadIdx.x == 0) {
        const unsigned long long own = static_cast<unsigned long long>(sum) << 32 | 1;
        const unsigned long long all = atomicAdd(&sumAndBlocks, own) + own;
        if (static_cast<unsigned>(all) == gridDim.x) {
            *result = static_cast<int>(all >> 32);
            sumAndBlocks = 0;
        }
    }
}

// CPU reference: returns the sum of each chunk of `length` elements. The last chunk may be shorter.
std::vector<int> sumsOfChunks(const std::vector<int>& input, std::size_t length) {
    std::vector<int> sums;
    for (std::size_t first = 0; first < input.size(); first += length) {
        const std::size_t last = std::min(input.size(), first + length);
        sums.push_back(std::accumulate(input.begin() + first, input.begin() + last, 0));
    }
    return sums;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned block;
    lab::Exercise exercise("reduceInteger", "Sums integers with ever faster kernels.");
    exercise.option("size", &size, {1 << 24, 1 << 18}, 1, lab::kMaxSize, "number of integers");
    exercise.option("block", &block, 512, 32, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);

    // The integers lie around zero, so an int can hold the sum of any number of them.
    const std::vector<int> input = lab::randomInts(size, exercise.seed(), -100, 100);
    // The longest chunks have 16 parts. Zeros fill the last chunk.
    const std::size_t longest = std::size_t{16} * block;
    lab::DeviceBuffer<int> source(lab::blocksFor(size, longest) * longest);
    source.fillBytes(0);
    source.copyFrom(input);
    lab::DeviceBuffer<int> work(source.size());
    lab::DeviceBuffer<int> partial(lab::blocksFor(size, block));
    int* const data = work.get();
    int* const sums = partial.get();
    exercise.title("%s ints (%s), block %u", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(int)).c_str(), block);

    const lab::Work read = lab::bytes(1.0 * size * sizeof(int));
    // Most kernels work in place, so every run needs fresh input.
    lab::Ladder ladder(exercise, partial, [&] { work.copyFrom(source); });

    // Adds the row of a kernel that leaves the sum of each chunk. A chunk has parts.count parts,
    // each as long as a block.
    struct Parts {
        unsigned count;
    };
    const auto rung = [&](const char* name, Parts parts, auto launch) {
        const std::size_t chunk = std::size_t{parts.count} * block;
        const unsigned grid = lab::blocksFor(size, chunk);
        const auto check = [&] {
            return lab::mismatch(partial.toHost(grid), sumsOfChunks(input, chunk));
        };
        ladder.rung(name, grid, block, read, check, [&] { launch(grid); });
    };
    rung("reduceNeighbored", Parts{1},
         [&](unsigned grid) { reduceNeighbored<<<grid, block>>>(data, sums); });
    rung("reduceNeighboredLess", Parts{1},
         [&](unsigned grid) { reduceNeighboredLess<<<grid, block>>>(data, sums); });
    rung("reduceInterleaved", Parts{1},
         [&](unsigned grid) { reduceInterleaved<<<grid, block>>>(data, sums); });
    rung("reduceUnrolling2", Parts{2},
         [&](unsigned grid) { reduceUnrolling<2><<<grid, block>>>(data, sums); });
    rung("reduceUnrolling4", Parts{4},
         [&](unsigned grid) { reduceUnrolling<4><<<grid, block>>>(data, sums); });
    rung("reduceUnrolling8", Parts{8},
         [&](unsigned grid) { reduceUnrolling<8><<<grid, block>>>(data, sums); });
    rung("reduceLoop8", Parts{8}, [&](unsigned grid) { reduceLoop8<<<grid, block>>>(data, sums); });
    rung("reduceUnrollWarps8", Parts{8},
         [&](unsigned grid) { reduceUnrollWarps8<<<grid, block>>>(data, sums); });
    rung("reduceCompleteUnrollWarps8", Parts{8},
         [&](unsigned grid) { reduceCompleteUnrollWarps8<<<grid, block>>>(data, sums); });
    rung("reduceCompleteUnroll8", Parts{8},
         [&](unsigned grid) { launchCompleteUnroll<8>(grid, block, data, sums); });
    rung("reduceCompleteUnroll16", Parts{16},
         [&](unsigned grid) { launchCompleteUnroll<16>(grid, block, data, sums); });
    rung("reduceShared", Parts{16},
         [&](unsigned grid) { reduceShared<<<grid, block>>>(data, sums); });
    rung("reduceShuffle", Parts{16},
         [&](unsigned grid) { reduceShuffle<<<grid, block>>>(data, sums); });

    // This row computes the whole sum with reduceShuffle: the host launches the kernel, copies the
    // sums of the blocks and adds them up. A profiler does not need it, because it has seen the
    // kernel in the row above.
    if (!exercise.profile()) {
        const unsigned blocks = lab::blocksFor(size, longest);
        std::vector<int> ofBlocks(blocks);
        int sum = 0;
        partial.fillBytes(lab::poisonByte<int>());  // overwrites the sums of the row above
        const auto isTheSumOnHost = [&] {
            return lab::mismatch<int>({sum}, sumsOfChunks(input, size));
        };
        ladder.host("shuffleThenHost", read, isTheSumOnHost, [&] {
            reduceShuffle<<<blocks, block>>>(data, sums);
            CUDA_CHECK_LAUNCH();
            CUDA_CHECK(
                cudaMemcpy(ofBlocks.data(), sums, blocks * sizeof(int), cudaMemcpyDeviceToHost));
            sum = std::accumulate(ofBlocks.begin(), ofBlocks.end(), 0);
        });
    }

    const auto isTheSum = [&] {
        return lab::mismatch(partial.toHost(1), sumsOfChunks(input, size));
    };
    // A block reads one tile at a time.
    const std::size_t tile = std::size_t{4 * kLoads} * block;
    const unsigned grid = lab::gridStrideBlocks(exercise.device(), size, tile, block);
    ladder.rung("reduceOneLaunch", grid, block, read, isTheSum,
                [&] { reduceOneLaunch<<<grid, block>>>(data, sums, size); });
    lab::cubSum(ladder, isTheSum, source.get(), sums, size);
    ladder.announceFastest();
    return exercise.finish();
}
