// Multiplies two matrices with the instructions of sm_90 (H100, H200). One thread copies whole
// tiles (TMA), barriers count the bytes that arrive (mbarrier), and groups of four warps multiply
// tiles that stay in shared memory (wgmma). C (m x n) = A (m x k) * B (k x n), all row-major and of
// BF16, with sums in FP32.
//
//   1 wgmmaSimple      a block computes 128 x 256 elements of C: load, wait, multiply, wait
//   2 wgmmaProducer    one thread does nothing but load, up to four stages ahead of the products
//   3 wgmmaPersistent  a block computes several tiles, and stores one while it loads for the next
//   4 wgmmaCluster     two blocks on two multiprocessors share the tiles of B that they load
//     cublasGemmEx     NVIDIA's library, with the same types
//
// It runs only on GPUs of compute capability 9.0.
//
//   ./lab run hopperMatmul -- --m=8K --n=8K --k=8K
//   ./lab test hopperMatmul
//   ./lab profile hopperMatmul
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu):
//   cmake --build build --target hopperMatmul
//   build/ch05_performance/hopperMatmul --m=8K --n=8K --k=8K
//   ncu build/ch05_performance/hopperMatmul --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -Icommon
//       ch05_performance/hopperMatmul/hopperMatmul.cu common/*.cpp common/*.cu
//       -DLAB_HAVE_CUBLAS -lcublas -o build/hopperMatmul

#include <cuda_bf16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../bf16Product.cuh"
#include "../cublasMatmulBf16.cuh"
#include "hopperInstructions.cuh"
#include "hopperTiles.cuh"
#include "lab.cuh"
#include "tensorMap.cuh"

using namespace hopper;

// One thread starts the copies of both tiles. `full` counts their bytes as they arrive.
__device__ void load(Stage& stage, Barrier* full, const CUtensorMap& mapA, const CUtensorMap& mapB,
                     unsigned row, unsigned col, unsigned k) {
    arriveAndExpect(full, sizeof(Stage));
    for (unsigned i = 0; i < kTileM / 64; ++i) loadTile(stage.a[i], &mapA, row + 64 * i, k, full);
    for (unsigned i = 0; i < kBoxes; ++i) loadTile(stage.b[i], &mapB, k, col + 64 * i, full);
}

// Loads two tiles, waits for them, multiplies them, and waits for the products. Still wrong: while
// the tiles are in flight the block multiplies nothing, and while it multiplies nothing is in
// flight.
__global__ void __launch_bounds__(2 * kGroup, 1)
    wgmmaSimple(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB,
                bf16* c, std::size_t m, std::size_t n, std::size_t k) {
    extern __shared__ __align__(1024) unsigned char shared[];
    Stage& stage = *reinterpret_cast<Stage*>(shared);
    __shared__ Barrier full;
    const unsigned cols = static_cast<unsigned>((n + kTileN - 1) / kTileN);
    const unsigned row = blockIdx.x / cols * kTileM, col = blockIdx.x % cols * kTileN;
    const unsigned consumer = threadIdx.x / kGroup;
    if (threadIdx.x == 0) {
        initBarrier(&full, 1);
        publishBarriers();
    }
    __syncthreads();

    float sums[128];
    unsigned parity = 0;
    for (std::size_t i = 0; i < k; i += kTileK, parity ^= 1) {
        if (threadIdx.x == 0) load(stage, &full, mapA, mapB, row, col, static_cast<unsigned>(i));
        waitFor(&full, parity);
        multiply(sums, stage, consumer, i > 0);
        waitForProducts<0>();
        __syncthreads();  // both consumers are done with the tiles
    }
    storeSums(sums, c, m, n, row + consumer * 64, col);
}

// A ring of stages. Each stage has two barriers: `full` tells that its bytes have arrived, and
// `empty` that the consumers have used them. Whoever goes around the ring keeps a position in it,
// and the parity of the round.
struct Position {
    unsigned stage = 0, parity = 0;
    __device__ void advance(unsigned stages) {
        if (++stage < stages) return;
        stage = 0;
        parity ^= 1;
    }
};

// One thread of a third warp group, the producer, loads as far ahead as there are stages. Its group
// needs few registers and gives the others to the consumers. Still wrong: while a block stores its
// sums, and while the next block fills its stages, nothing is multiplied.
constexpr unsigned kStages = 4;

struct Ring {
    Stage stages[kStages];
    Barrier full[kStages], empty[kStages];
};

// One thread calls it. `consumers` counts the warp groups that use the stages of this ring.
__device__ void initRing(Ring& ring, unsigned consumers) {
    for (unsigned i = 0; i < kStages; ++i) {
        initBarrier(&ring.full[i], 1);
        initBarrier(&ring.empty[i], consumers);
    }
    publishBarriers();
}

__global__ void __launch_bounds__(3 * kGroup, 1)
    wgmmaProducer(const __grid_constant__ CUtensorMap mapA,
                  const __grid_constant__ CUtensorMap mapB, bf16* c, std::size_t m, std::size_t n,
                  std::size_t k) {
    extern __shared__ __align__(1024) unsigned char shared[];
    Ring& ring = *reinterpret_cast<Ring*>(shared);
    const unsigned cols = static_cast<unsigned>((n + kTileN - 1) / kTileN);
    const unsigned row = blockIdx.x / cols * kTileM, col = blockIdx.x % cols * kTileN;
    if (threadIdx.x == 0) initRing(ring, 2);
    __syncthreads();

    Position at;
    if (threadIdx.x < kGroup) {
        shrinkRegisters<40>();
        if (threadIdx.x > 0) return;
        for (std::size_t i = 0; i < k; i += kTileK, at.advance(kStages)) {
            waitFor(&ring.empty[at.stage], at.parity ^ 1);
            load(ring.stages[at.stage], &ring.full[at.stage], mapA, mapB, row, col,
                 static_cast<unsigned>(i));
        }
    } else {
        growRegisters<232>();
        const unsigned consumer = threadIdx.x / kGroup - 1;
        float sums[128];
        for (std::size_t i = 0; i < k; i += kTileK, at.advance(kStages)) {
            waitFor(&ring.full[at.stage], at.parity);
            multiply(sums, ring.stages[at.stage], consumer, i > 0);
            waitForProducts<0>();
            if (threadIdx.x % kGroup == 0) arriveAt(&ring.empty[at.stage], 0);
        }
        storeSums(sums, c, m, n, row + consumer * 64, col);
    }
}

// The order of the tiles of C: column by column within bands of kBand rows of tiles. So blocks that
// run at the same time share rows of A and columns of B, and L2 has both. Every other band goes
// from right to left and begins with the columns of B that the last band ended with.
constexpr unsigned kBand = 16;

struct Tile {
    unsigned row, col;
};
__device__ Tile tileAt(unsigned index, unsigned rows, unsigned cols, unsigned band) {
    const unsigned number = index / (band * cols), inBand = index % (band * cols);
    const unsigned height = min(band, rows - number * band);  // the last band may be lower
    const unsigned col = inBand / height;
    return {number * band + inBand % height, number % 2 ? cols - 1 - col : col};
}

// There are as many blocks as SMs can run at a time, and each computes several tiles. While the
// consumers store a tile, the producer already loads for the next one. The consumers store by TMA,
// too, in pieces of 64 x 64 elements: TMA copies them from shared memory while the consumer goes
// on.
//
// The kCluster blocks of a cluster compute tiles that lie one below the other, so they need the
// same columns of B. Each block loads some of the four boxes of B, for all blocks of the cluster. A
// stage is empty when the consumers of the whole cluster have used it.
//
// Every other tile walks through k backwards and begins with the data that the last tile has left
// in L2. A consumer issues the products of a step before it waits for those of the last step, so
// the tensor cores always have work.
struct Persistent {
    Ring ring;
    alignas(1024) Box pieces[2][kPieces];
};

template <unsigned kCluster>
__global__ void __cluster_dims__(kCluster) __launch_bounds__(3 * kGroup, 1)
    wgmmaPersistent(const __grid_constant__ CUtensorMap mapA,
                    const __grid_constant__ CUtensorMap mapB,
                    const __grid_constant__ CUtensorMap mapC, unsigned rows, unsigned cols,
                    unsigned steps) {
    extern __shared__ __align__(1024) unsigned char shared[];
    Persistent& mine = *reinterpret_cast<Persistent*>(shared);
    Ring& ring = mine.ring;
    const unsigned rank = rankInCluster(), thread = threadIdx.x % kGroup;
    const unsigned first = blockIdx.x / kCluster, clusters = gridDim.x / kCluster;
    if (threadIdx.x == 0) initRing(ring, 2 * kCluster);
    syncCluster();  // all barriers exist before a block uses those of another block

    Position at;
    if (threadIdx.x < kGroup) {
        shrinkRegisters<40>();
        bool backwards = false;
        for (unsigned i = first; thread == 0 && i < rows * cols; i += clusters) {
            const Tile tile = tileAt(i, rows, cols, kBand / kCluster);
            const unsigned row = (tile.row * kCluster + rank) * kTileM, col = tile.col * kTileN;
            for (unsigned step = 0; step < steps; ++step, at.advance(kStages)) {
                const unsigned k = (backwards ? steps - 1 - step : step) * kTileK;
                Stage& stage = ring.stages[at.stage];
                Barrier* const full = &ring.full[at.stage];
                waitFor(&ring.empty[at.stage], at.parity ^ 1);
                arriveAndExpect(full, sizeof(Stage));
                loadTile(stage.a[0], &mapA, row, k, full);
                loadTile(stage.a[1], &mapA, row + 64, k, full);
                for (unsigned b = rank; b < kBoxes; b += kCluster)
                    loadTileForAll(stage.b[b], &mapB, k, col + 64 * b, full, (1 << kCluster) - 1);
            }
            backwards = !backwards;
        }
    } else {
        growRegisters<232>();
        const unsigned consumer = threadIdx.x / kGroup - 1;
        float sums[128];
        for (unsigned i = first; i < rows * cols; i += clusters) {
            unsigned last = 0;  // the stage of the step before
            for (unsigned step = 0; step < steps; ++step, at.advance(kStages)) {
                waitFor(&ring.full[at.stage], at.parity);
                multiply(sums, ring.stages[at.stage], consumer, step > 0);
                waitForProducts<1>();
                if (step > 0 && thread < kCluster) arriveAt(&ring.empty[last], thread);
                last = at.stage;
            }
            waitForProducts<0>();
            if (thread < kCluster) arriveAt(&ring.empty[last], thread);
            const Tile tile = tileAt(i, rows, cols, kBand / kCluster);
            const unsigned row = (tile.row * kCluster + rank) * kTileM + consumer * 64;
            storePieces(sums, mine.pieces[consumer], mapC, row, tile.col * kTileN, consumer + 1);
        }
        if (thread == 0) waitForStoresToRead<0>();
    }
    syncCluster();  // no block ends while another may still write to its shared memory
}

// A launch needs this for more than 48 KiB of shared memory.
template <typename Kernel>
void allowShared(Kernel kernel, std::size_t bytes) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
}

// How many of `most` clusters to use: the fewest that need the same number of rounds.
unsigned evenShare(unsigned tiles, unsigned most) {
    const unsigned rounds = (tiles + most - 1) / most;
    return (tiles + rounds - 1) / rounds;
}

int main(int argc, char** argv) {
    std::size_t m, n, k;
    lab::Exercise exercise("hopperMatmul",
                           "Multiplies two matrices of BF16 with the instructions of sm_90.",
                           lab::BackEnds::kGpuAlone);
    exercise.option("m", &m, 4096, 1, lab::kMaxSize, "rows of A and C");
    exercise.option("n", &n, 4096, 1, lab::kMaxSize, "columns of B and C");
    exercise.option("k", &k, 4096, 1, lab::kMaxSize, "columns of A, rows of B");
    exercise.parse(argc, argv);
    exercise.requireProduct(m, n, k);

    Bf16Product product(m, n, k, exercise.seed());
    exercise.title("C (%zu x %zu) = A (%zu x %zu) * B (%zu x %zu) in BF16", m, n, m, k, k, n);
    if (!product.sampleNote().empty()) exercise.note(product.sampleNote());

    const bf16 *const a = product.a(), *const b = product.b();
    bf16* const c = product.c().get();
    const std::size_t height = padded(m), width = padded(n), depth = padded(k);
    const lab::Work work = lab::tensorFlops(2.0 * m * n * k);  // the padding does not count
    const auto isProduct = [&] { return product.mismatch(); };

    lab::Ladder ladder(exercise, product.c());
    const lab::DeviceFacts& device = exercise.device();
    if (device.major == 9) {
        // TMA loads zeros for elements outside of m, n and k, and does not store them.
        const CUtensorMap mapA = tensorMap(a, m, k, depth);
        const CUtensorMap mapB = tensorMap(b, k, n, width);
        const CUtensorMap mapC = tensorMap(c, m, n, width);

        const unsigned cols = lab::blocksFor(n, kTileN), tiles = lab::blocksFor(m, kTileM) * cols;
        allowShared(wgmmaSimple, sizeof(Stage));
        ladder.rung("wgmmaSimple", tiles, 2 * kGroup, work, isProduct, [&] {
            wgmmaSimple<<<tiles, 2 * kGroup, sizeof(Stage)>>>(mapA, mapB, c, height, width, k);
        });
        allowShared(wgmmaProducer, sizeof(Ring));
        ladder.rung("wgmmaProducer", tiles, 3 * kGroup, work, isProduct, [&] {
            wgmmaProducer<<<tiles, 3 * kGroup, sizeof(Ring)>>>(mapA, mapB, c, height, width, k);
        });

        const unsigned steps = lab::blocksFor(k, kTileK);
        struct Cluster {
            unsigned blocks;
        };
        const auto persistent = [&](const char* name, auto kernel, Cluster cluster) {
            const unsigned rows = lab::blocksFor(m, cluster.blocks * kTileM);
            const unsigned grid =
                cluster.blocks * evenShare(rows * cols, device.multiprocessors / cluster.blocks);
            allowShared(kernel, sizeof(Persistent));
            ladder.rung(name, grid, 3 * kGroup, work, isProduct, [&] {
                kernel<<<grid, 3 * kGroup, sizeof(Persistent)>>>(mapA, mapB, mapC, rows, cols,
                                                                 steps);
            });
        };
        persistent("wgmmaPersistent", wgmmaPersistent<1>, Cluster{1});
        persistent("wgmmaCluster", wgmmaPersistent<2>, Cluster{2});
    } else {
        exercise.note("no kernels: their instructions need compute capability 9.0");
    }
    lab::cublasMatmulBf16(ladder, isProduct, a, b, c, m, n, k, depth, width);
    ladder.announceFastest();
    return exercise.finish();
}
