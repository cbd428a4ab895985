#pragma once
// The tiles of hopperMatmul in shared memory, how a consumer multiplies them, and how it stores its
// sums to C.

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hopperInstructions.cuh"

namespace hopper {

using bf16 = __nv_bfloat16;

// A block computes 128 x 256 elements of C. Its two consumers, groups of four warps, compute 64 x
// 256 each, the largest product of wgmma. Each thread keeps 128 of the sums.
constexpr unsigned kTileM = 128, kTileN = 256, kTileK = 64, kGroup = 128;

// A step along k needs 128 x 64 elements of A and 64 x 256 of B. TMA swizzles rows of 128 bytes,
// which are 64 elements. So the tile of B consists of four boxes side by side, and the tile of A of
// two, one for each consumer.
constexpr unsigned kBoxes = kTileN / 64;
using Box = bf16[64][64];

struct alignas(1024) Stage {  // the swizzle repeats every 1024 bytes
    Box a[kTileM / 64];
    Box b[kBoxes];
};

// The threads of a consumer start to multiply the two tiles: 64 x 256 sums += 64 x 64 * 64 x 256.
// Each of four instructions takes 16 steps along k, which are 32 bytes of a row of A and 16 rows of
// B.
__device__ inline void multiply(float (&sums)[128], const Stage& stage, unsigned consumer,
                                bool add) {
    constexpr unsigned kEightRows = 8 * 128;
    const std::uint64_t a = tileDescriptor(stage.a[consumer], 0, kEightRows);
    const std::uint64_t b = tileDescriptor(stage.b, sizeof(Box), kEightRows);
    beginProducts();
#pragma unroll
    for (unsigned i = 0; i < kTileK / 16; ++i) {
        wgmma64x256x16(sums, a + i * 32 / 16, b + i * 2 * kEightRows / 16, add || i > 0);
    }
    commitProducts();
}

// Stores the sums of a consumer to rows row to row + 63 of C. Each thread stores two neighbours at
// a time.
__device__ inline void storeSums(const float (&sums)[128], bf16* c, std::size_t m, std::size_t n,
                                 std::size_t row, std::size_t col) {
    const unsigned warp = threadIdx.x % kGroup / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned i = 0; i < 64; ++i) {
        const std::size_t r = row + warp * 16 + i % 2 * 8 + lane / 4;
        const std::size_t q = col + i / 2 * 8 + lane % 4 * 2;
        if (r < m && q < n) {
            *reinterpret_cast<__nv_bfloat162*>(c + r * n + q) =
                __floats2bfloat162_rn(sums[2 * i], sums[2 * i + 1]);
        }
    }
}

__device__ inline std::uint32_t rounded(float first, float second) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    std::uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// Stores the sums of a consumer as BF16, in pieces of 64 x 64. A piece is swizzled like the tiles,
// so that eight rows of 16 bytes lie in different banks, and TMA undoes the swizzling. The place of
// a piece is free again when all but the last kPieces - 1 stores have read theirs.
constexpr unsigned kPieces = 2;

__device__ inline void storePieces(const float (&sums)[128], Box (&places)[kPieces],
                                   const CUtensorMap& mapC, unsigned row, unsigned col,
                                   unsigned barrier) {
    const unsigned thread = threadIdx.x % kGroup, lane = thread % 32;
    const unsigned rowInPiece = thread / 32 * 16 + lane % 16;
#pragma unroll
    for (unsigned piece = 0; piece < kBoxes; ++piece) {
        Box& place = places[piece % kPieces];
        if (thread == 0) waitForStoresToRead<kPieces - 1>();
        syncWarpGroup(barrier);
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {  // 16 columns each
            std::uint32_t pairs[4];
#pragma unroll
            for (unsigned p = 0; p < 4; ++p) {
                const float* const two = sums + piece * 32 + i * 8 + p * 2;
                pairs[p] = rounded(two[0], two[1]);
            }
            const unsigned unit = (i * 2 + lane / 16) ^ rowInPiece % 8;
            stmatrix(&place[rowInPiece][unit * 8], pairs);
        }
        publishShared();
        syncWarpGroup(barrier);
        if (thread == 0) {
            storeTile(&mapC, row, col + piece * 64, place);
            commitStores();
        }
    }
}

}  // namespace hopper
