// Smooths a signal, tile by tile. A block copies a tile into shared memory, and its threads average
// neighbours there. Each SM holds only one block, which cannot hide how long a copy takes. So the
// next tiles have to be on their way while the block works on this one.
//
//   1 synchronous      loads a tile, waits for it, works on it, and then loads the next one
//   2 doubleBuffer     loads the next tile into registers while it works on this one
//   3 cpAsync2         copies it past the registers, into the other one of two buffers (cp.async)
//   4 cpAsyncRing3, 4, 6   has a ring of buffers, with 2, 3 or 5 tiles on their way
//   5 barrierCopy      has a ring of 4 buffers, each with a cuda::barrier
//   6 bulkCopy         lets one thread ask the TMA of the SM for a whole tile
//   7 bulkBothWays     also lets the TMA write the results
//     cudaMemcpy       copies the signal, for comparison
//
// Kernels 6 and 7 need compute capability 9.0. With --blocks=8 an SM holds more blocks, and other
// warps work while one waits.
//
//   ./lab run asyncCopy
//   ./lab test asyncCopy
//   ./lab profile asyncCopy
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target asyncCopy
//   build/ch04_memory/asyncCopy --size=32M
//   ncu build/ch04_memory/asyncCopy --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/asyncCopy/asyncCopy.cu
//       common/*.cpp common/*.cu -o build/asyncCopy

#include <cooperative_groups.h>

#include <algorithm>
#include <cstddef>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <vector>

#include "lab.cuh"

constexpr unsigned kBlock = 256;  // threads of a block
constexpr unsigned kTile = 2048;  // floats of a tile
constexpr unsigned kTileBytes = kTile * sizeof(float);
constexpr unsigned kTaps = 4;  // floats that each average is of
constexpr unsigned kRing = 4;  // buffers of barrierCopy, bulkCopy and bulkBothWays

namespace ptx = cuda::ptx;
using Pipeline = cuda::pipeline<cuda::thread_scope_thread>;
#pragma nv_diag_suppress static_var_with_dynamic_init  // init() initialises the barriers
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// A block works on every gridDim.x-th tile of the signal, beginning with tile number blockIdx.x.
// Zeros fill the last tile, so all tiles are whole.

// How many tiles this block has.
__device__ unsigned tilesOfBlock(unsigned tiles) {
    return (tiles - blockIdx.x + gridDim.x - 1) / gridDim.x;
}

// Where the block's tile number i begins in the signal.
__device__ std::size_t begin(unsigned i) {
    return (blockIdx.x + std::size_t{i} * gridDim.x) * kTile;
}

// out[i] becomes the average of tile[i] and the kTaps - 1 elements behind it. The last elements of
// a tile go on at its beginning.
__device__ void smooth(const float* tile, float* out) {
    for (unsigned i = threadIdx.x; i < kTile; i += kBlock) {
        float sum = 0;
#pragma unroll
        for (unsigned k = 0; k < kTaps; ++k) sum += tile[(i + k) % kTile];
        out[i] = sum / kTaps;
    }
}

// Each thread copies kParts parts of 16 bytes of a tile. Part k of a thread begins at element
// partOf(k).
constexpr unsigned kParts = kTile / (4 * kBlock);
__device__ unsigned partOf(unsigned k) {
    return 4 * (k * kBlock + threadIdx.x);
}

// A thread's parts of a tile, in registers.
struct Parts {
    float4 part[kParts];
};
__device__ Parts load(const float* in) {
    Parts parts;
#pragma unroll
    for (unsigned k = 0; k < kParts; ++k)
        parts.part[k] = *reinterpret_cast<const float4*>(in + partOf(k));
    return parts;
}
__device__ void store(float* tile, const Parts& parts) {
#pragma unroll
    for (unsigned k = 0; k < kParts; ++k)
        *reinterpret_cast<float4*>(tile + partOf(k)) = parts.part[k];
}

// Still wrong: while the block waits for a tile, it does nothing, and while it works, no tile is on
// its way.
__global__ void synchronous(const float* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float tile[kTile];
    const unsigned mine = tilesOfBlock(tiles);
    for (unsigned i = 0; i < mine; ++i) {
        store(tile, load(in + begin(i)));
        __syncthreads();  // the tile is complete
        smooth(tile, out + begin(i));
        __syncthreads();  // all threads are done with it
    }
}

// The loads of the next tile begin before the work on this one, and nobody needs their values until
// it is done. Still wrong: the next tile takes registers, and each thread stores it into shared
// memory itself. With more tiles ahead, there would be more of both.
__global__ void doubleBuffer(const float* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float buffer[2][kTile];
    const unsigned mine = tilesOfBlock(tiles);
    store(buffer[0], load(in + begin(0)));
    for (unsigned i = 0; i < mine; ++i) {
        __syncthreads();  // tile i is complete, and all threads are done with the other buffer
        Parts next;
        if (i + 1 < mine) next = load(in + begin(i + 1));
        smooth(buffer[i % 2], out + begin(i));
        if (i + 1 < mine) store(buffer[(i + 1) % 2], next);
    }
}

// Begins to copy the thread's parts of a tile. They go from global to shared memory, and no
// register holds them.
__device__ void copyParts(float* tile, const float* in, Pipeline& pipe) {
#pragma unroll
    for (unsigned k = 0; k < kParts; ++k) {
        cuda::memcpy_async(tile + partOf(k), in + partOf(k), cuda::aligned_size_t<16>(16), pipe);
    }
}

// The same two buffers, filled by asynchronous copies. Still wrong: one tile ahead is not enough to
// keep the memory busy.
__global__ void cpAsync2(const float* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float buffer[2][kTile];
    Pipeline pipe = cuda::make_pipeline();
    const unsigned mine = tilesOfBlock(tiles);
    pipe.producer_acquire();
    copyParts(buffer[0], in + begin(0), pipe);
    pipe.producer_commit();
    for (unsigned i = 0; i < mine; ++i) {
        pipe.consumer_wait();  // this thread's parts of tile i are there
        __syncthreads();       // all parts are, and all threads are done with the other buffer
        if (i + 1 < mine) {
            pipe.producer_acquire();
            copyParts(buffer[(i + 1) % 2], in + begin(i + 1), pipe);
            pipe.producer_commit();
        }
        smooth(buffer[i % 2], out + begin(i));
        pipe.consumer_release();
    }
}

// kStages buffers go round in a ring: while the block works on one, copies fill the others. A
// thread commits a stage for each tile, and an empty one where no tile is left. So the oldest of
// the kStages - 1 stages that are on their way is always that of tile i. Still wrong: each thread
// computes addresses and begins copies of its own.
template <unsigned kStages>
__global__ void cpAsyncRing(const float* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float ring[kStages][kTile];
    Pipeline stages = cuda::make_pipeline();
    const unsigned mine = tilesOfBlock(tiles);
    const auto fill = [&](unsigned i) {
        stages.producer_acquire();
        if (i < mine) copyParts(ring[i % kStages], in + begin(i), stages);
        stages.producer_commit();
    };
    for (unsigned i = 0; i < kStages - 1; ++i) fill(i);
    for (unsigned i = 0; i < mine; ++i) {
        cuda::pipeline_consumer_wait_prior<kStages - 2>(stages);  // all but so many are complete
        __syncthreads();
        fill(i + kStages - 1);  // into the buffer that all have just left
        smooth(ring[i % kStages], out + begin(i));
        stages.consumer_release();
    }
}

// Each buffer has a barrier. A phase of it ends when all threads have arrived and the copies that
// belong to it are complete. So one wait tells a thread two things: the tile is there, and all
// others are done with the tile before it. (On compute capability 9.0, cuda::memcpy_async() itself
// asks the TMA here. On 8.0 the threads copy as in the kernels before.)
__global__ void barrierCopy(const float* in, float* out, unsigned tiles) {
    __shared__ alignas(16) float ring[kRing][kTile];
    __shared__ Barrier arrived[kRing];
    const auto block = cooperative_groups::this_thread_block();
    const unsigned mine = tilesOfBlock(tiles);
    if (threadIdx.x < kRing) init(&arrived[threadIdx.x], kBlock);
    block.sync();
    const auto fill = [&](unsigned i) {
        if (i >= mine) return;
        cuda::memcpy_async(block, ring[i % kRing], in + begin(i),
                           cuda::aligned_size_t<16>(kTileBytes), arrived[i % kRing]);
    };
    for (unsigned i = 0; i < kRing - 1; ++i) fill(i);
    for (unsigned i = 0; i < mine; ++i) {
        arrived[i % kRing].arrive_and_wait();
        fill(i + kRing - 1);
        smooth(ring[i % kRing], out + begin(i));
    }
}

// Thread 0 asks the TMA for a tile, and arrives at its barrier with the number of bytes
// that are to come. The TMA counts them down. The other threads only arrive and wait.
__global__ void bulkCopy(const float* in, float* out, unsigned tiles) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(16) float ring[kRing][kTile];
    __shared__ Barrier arrived[kRing];
    const unsigned mine = tilesOfBlock(tiles);
    if (threadIdx.x == 0) {
        for (Barrier& barrier : arrived) init(&barrier, kBlock);
        ptx::fence_proxy_async(ptx::space_shared);  // the TMA sees the barriers
    }
    __syncthreads();
    const auto fill = [&](unsigned i) {
        if (threadIdx.x > 0 || i >= mine) return;
        Barrier& barrier = arrived[i % kRing];
        cuda::device::memcpy_async_tx(ring[i % kRing], in + begin(i),
                                      cuda::aligned_size_t<16>(kTileBytes), barrier);
        (void)cuda::device::barrier_arrive_tx(barrier, 1, kTileBytes);
    };
    for (unsigned i = 0; i < kRing - 1; ++i) fill(i);
    for (unsigned i = 0; i < mine; ++i) {
        Barrier& barrier = arrived[i % kRing];
        if (threadIdx.x > 0) (void)barrier.arrive();  // thread 0 has done so in fill()
        barrier.wait_parity(i / kRing % 2 == 1);
        fill(i + kRing - 1);
        smooth(ring[i % kRing], out + begin(i));
    }
#endif
}

// The results go to shared memory, and thread 0 asks the TMA to write them. There are two
// buffers for them: the TMA reads one while the threads write the other.
__global__ void bulkBothWays(const float* in, float* out, unsigned tiles) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(16) float buffers[];  // the ring, and two tiles for results
    __shared__ Barrier arrived[kRing];
    float* const results = buffers + kRing * kTile;
    const unsigned mine = tilesOfBlock(tiles);
    if (threadIdx.x == 0) {
        for (Barrier& barrier : arrived) init(&barrier, kBlock);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    const auto fill = [&](unsigned i) {
        if (threadIdx.x > 0 || i >= mine) return;
        Barrier& barrier = arrived[i % kRing];
        cuda::device::memcpy_async_tx(buffers + i % kRing * kTile, in + begin(i),
                                      cuda::aligned_size_t<16>(kTileBytes), barrier);
        (void)cuda::device::barrier_arrive_tx(barrier, 1, kTileBytes);
    };
    for (unsigned i = 0; i < kRing - 1; ++i) fill(i);
    for (unsigned i = 0; i < mine; ++i) {
        Barrier& barrier = arrived[i % kRing];
        if (threadIdx.x > 0) (void)barrier.arrive();
        barrier.wait_parity(i / kRing % 2 == 1);
        fill(i + kRing - 1);
        float* const result = results + i % 2 * kTile;
        smooth(buffers + i % kRing * kTile, result);
        ptx::fence_proxy_async(ptx::space_shared);  // the TMA sees what this thread has written
        if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        __syncthreads();  // all results are there, and the TMA has read those before them
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + begin(i), result,
                               kTile * sizeof(float));
            ptx::cp_async_bulk_commit_group();
        }
    }
    // The shared memory must not go away before the TMA has read it.
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
#endif
}

// CPU reference.
std::vector<float> smoothed(const std::vector<float>& in) {
    std::vector<float> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::size_t tile = i / kTile * kTile;
        float sum = 0;
        for (unsigned k = 0; k < kTaps; ++k) sum += in[tile + (i + k) % kTile];
        out[i] = sum / kTaps;
    }
    return out;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned blocks;
    lab::Exercise exercise("asyncCopy", "Smooths a signal, tile by tile, through shared memory.");
    exercise.option("size", &size, {1 << 25, 1 << 16}, 1, lab::kMaxSize, "number of floats");
    exercise.option("blocks", &blocks, 1, 1, 32, "blocks for each SM");
    exercise.parse(argc, argv);

    const unsigned tiles = lab::blocksFor(size, kTile);
    std::vector<float> input = lab::randomFloats(size, exercise.seed(), -1, 1);
    input.resize(std::size_t{tiles} * kTile, 0);
    const std::vector<float> expected = smoothed(input);
    const lab::DeviceBuffer<float> source(input);
    lab::DeviceBuffer<float> target(input.size());
    const float* const in = source.get();
    float* const out = target.get();
    exercise.title("%s floats (%s), tiles of %s, --blocks=%u", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(float)).c_str(), lab::inBytes(kTileBytes).c_str(),
                   blocks);
    // How much of the signal a block has on its way while it works on a tile.
    exercise.columns(lab::Columns::kLadder, {{"ahead [KiB]", 11, "ahead_kib"}});

    // A block has four tiles or more, where there are so many: a ring needs tiles that follow.
    const auto multiprocessors = static_cast<unsigned>(exercise.device().multiprocessors);
    const unsigned grid = std::min(std::max(tiles / 4, 1u), blocks * multiprocessors);
    const lab::Work moved = lab::bytes(2.0 * source.bytes());  // each element is read and written
    const auto found = [&](const std::vector<float>& right, lab::Cell ahead) {
        // (A sum of four numbers in the same order is the same, and so is a quarter of it.)
        return lab::Finding(lab::mismatch(target.toHost(), right, 0), {ahead});
    };

    lab::Ladder ladder(exercise, target);
    struct Ahead {
        unsigned tiles;
    };
    const auto rung = [&](const char* name, Ahead ahead, auto launch) {
        const auto isSmooth = [&, ahead] {
            return found(expected, ahead.tiles * kTileBytes / 1024);
        };
        ladder.rung(name, grid, kBlock, moved, isSmooth, launch);
    };
    rung("synchronous", Ahead{0}, [&] { synchronous<<<grid, kBlock>>>(in, out, tiles); });
    rung("doubleBuffer", Ahead{1}, [&] { doubleBuffer<<<grid, kBlock>>>(in, out, tiles); });
    rung("cpAsync2", Ahead{1}, [&] { cpAsync2<<<grid, kBlock>>>(in, out, tiles); });
    rung("cpAsyncRing3", Ahead{2}, [&] { cpAsyncRing<3><<<grid, kBlock>>>(in, out, tiles); });
    rung("cpAsyncRing4", Ahead{3}, [&] { cpAsyncRing<4><<<grid, kBlock>>>(in, out, tiles); });
    rung("cpAsyncRing6", Ahead{5}, [&] { cpAsyncRing<6><<<grid, kBlock>>>(in, out, tiles); });
    rung("barrierCopy", Ahead{3}, [&] { barrierCopy<<<grid, kBlock>>>(in, out, tiles); });
    if (exercise.device().major >= 9) {
        constexpr unsigned kShared = (kRing + 2) * kTileBytes;
        CUDA_CHECK(cudaFuncSetAttribute(bulkBothWays, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(kShared)));
        rung("bulkCopy", Ahead{3}, [&] { bulkCopy<<<grid, kBlock>>>(in, out, tiles); });
        rung("bulkBothWays", Ahead{3},
             [&] { bulkBothWays<<<grid, kBlock, kShared>>>(in, out, tiles); });
    }
    const auto isCopied = [&] { return found(input, {}); };
    ladder.peer("cudaMemcpy", moved, isCopied, [&] {
        CUDA_CHECK(cudaMemcpyAsync(out, in, source.bytes(), cudaMemcpyDeviceToDevice));
    });
    ladder.announceFastest();
    return exercise.finish();
}
