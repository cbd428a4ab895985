#pragma once
// A function for each instruction of sm_90 that C++ has no name for: barriers that count bytes
// (mbarrier), copies of whole tiles (TMA), products of a warp group (wgmma). PTX ISA, "Asynchronous
// Warpgroup Level Matrix Instructions" and "cp.async.bulk.tensor", has the details.

#include <cuda.h>  // CUtensorMap
#include <cuda_bf16.h>

#include <cstdint>

namespace hopper {

// These instructions take an address in shared memory as a number of 32 bits, not as a C++ pointer.
__device__ inline std::uint32_t sharedAddress(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// ---- mbarrier: a barrier in shared memory that can also wait for bytes ----
//
// A phase ends when `arrivals` threads have arrived and all announced bytes have come. The first
// phase has parity 0, the next 1, the next 0 again.

using Barrier = std::uint64_t;

__device__ inline void initBarrier(Barrier* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)),
                 "r"(arrivals)
                 : "memory");
}

// Makes barriers visible to TMA and to the other blocks of the cluster, after initBarrier().
__device__ inline void publishBarriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and announces the bytes that copies will bring in this phase.
__device__ inline void arriveAndExpect(Barrier* barrier, unsigned bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)),
        "r"(bytes)
        : "memory");
}

// Arrives at the barrier that lies at the same place in block `rank` of the cluster. The thread has
// only read, so `relaxed` is enough. A release would first wait until the whole cluster can see all
// earlier writes of the thread, which takes long.
__device__ inline void arriveAt(Barrier* barrier, unsigned rank) {
    asm volatile(
        "{.reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [there];}" ::"r"(
            sharedAddress(barrier)),
        "r"(rank)
        : "memory");
}

// Returns when the phase of this parity is over. A new barrier behaves as if a phase of parity 1
// had just ended, so waiting for parity 1 returns at once.
__device__ inline void waitFor(Barrier* barrier, unsigned parity) {
    asm volatile(
        "{.reg .pred over;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
        "@!over bra again;}" ::"r"(sharedAddress(barrier)),
        "r"(parity)
        : "memory");
}

// ---- blocks of a cluster ----

__device__ inline unsigned rankInCluster() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// A barrier of all threads of the cluster. It does not make writes visible.
__device__ inline void syncCluster() {
    asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
}

// ---- TMA: one thread requests the copy of a tile, and the hardware computes all addresses ----

// Copies a tile to shared memory. (row, column) is its first element in the matrix that `map`
// describes. `barrier` counts the bytes. Elements outside of the matrix arrive as zeros.
__device__ inline void loadTile(void* tile, const CUtensorMap* map, unsigned row, unsigned column,
                                Barrier* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(sharedAddress(tile)),
        "l"(map), "r"(column), "r"(row), "r"(sharedAddress(barrier))
        : "memory");
}

// Does the same for all blocks of the cluster whose bits are set in `blocks`. The tile arrives at
// the same place in each of them, and the barrier there counts it.
__device__ inline void loadTileForAll(void* tile, const CUtensorMap* map, unsigned row,
                                      unsigned column, Barrier* barrier, std::uint16_t blocks) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(sharedAddress(tile)),
        "l"(map), "r"(column), "r"(row), "r"(sharedAddress(barrier)), "h"(blocks)
        : "memory");
}

// Copies a tile from shared memory to the matrix, without the elements that would lie outside of
// it.
__device__ inline void storeTile(const CUtensorMap* map, unsigned row, unsigned column,
                                 const void* tile) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            map),
        "r"(column), "r"(row), "r"(sharedAddress(tile))
        : "memory");
}

// Closes a group of all stores that this thread has requested since the last call.
__device__ inline void commitStores() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all but the last `kPending` groups have read their shared memory, which is then free.
template <int kPending>
__device__ inline void waitForStoresToRead() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Makes this thread's writes to shared memory visible to TMA and wgmma.
__device__ inline void publishShared() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- wgmma: four warps multiply two tiles in shared memory, asynchronously ----

// Describes a tile for wgmma: its address, two distances, and the 128-byte swizzle with which TMA
// has stored it. `stride` is the distance from eight rows to the next eight, `leading` the one from
// a tile 128 bytes wide to its neighbour. Only an operand whose rows are k needs `leading`.
__device__ inline std::uint64_t tileDescriptor(const void* tile, unsigned leading,
                                               unsigned stride) {
    return (sharedAddress(tile) & 0x3FFFF) >> 4 | std::uint64_t{leading >> 4} << 16 |
           std::uint64_t{stride >> 4} << 32 | std::uint64_t{1} << 62;
}

// Before the first product: orders it behind earlier accesses to the registers of the sums.
__device__ inline void beginProducts() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Closes a group of all products since the last call.
__device__ inline void commitProducts() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until all but the last `kPending` groups of products are complete.
template <int kPending>
__device__ inline void waitForProducts() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// d (64 x 256) = a (64 x 16) * b (16 x 256), or d += with `add`. k runs along the rows of the tile
// of a and down the columns of the tile of b. Thread t of the warp group holds columns 8 j + t % 4
// * 2 and the next one of two rows: of row t / 32 * 16 + t % 32 / 4 in d[4 j] and d[4 j + 1], and
// of the row eight below in d[4 j + 2] and d[4 j + 3].
// clang-format off
__device__ inline void wgmma64x256x16(float (&d)[128], std::uint64_t a, std::uint64_t b, bool add) {
    asm volatile(
        "{.reg .pred add;\n"
        "setp.ne.u32 add, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        // Operands, whether to add, the signs of a and b, and for each whether its rows are k.
        "%128, %129, add, 1, 1, 0, 1;}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
          "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
          "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
          "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
          "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
          "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
          "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
          "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
          "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
        : "l"(a), "l"(b), "r"(unsigned{add}));
}
// clang-format on

// ---- from registers to shared memory, and how many registers there are ----

// Stores four matrices of 8 x 8 elements of 16 bits, of which a thread holds two neighbours each.
// Lane l gives the address of row l % 8 of matrix l / 8, 16 bytes.
__device__ inline void stmatrix(void* row, const std::uint32_t (&pairs)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     sharedAddress(row)),
                 "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                 : "memory");
}

// A barrier of the 128 threads of a warp group. Each group uses a number of its own.
__device__ inline void syncWarpGroup(unsigned number) {
    asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory");
}

// A warp group gives registers back, or takes registers that others have given back. Each of its
// threads has kRegisters from then on.
template <int kRegisters>
__device__ inline void shrinkRegisters() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void growRegisters() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace hopper
