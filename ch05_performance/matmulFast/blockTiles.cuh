#pragma once
// What the kernels of matmulFast have in common: the tiles of a block in shared memory, and how a
// thread copies its share of them, loads its fragments and stores its results.

#include <cuda_pipeline.h>

#include <cstddef>

constexpr unsigned kStep = 16;  // columns of A and rows of B in a tile

// The sizes of a kernel. A block computes kRows x kCols elements of C, and each thread
// kThreadRows x kThreadCols of them, in pieces of 4 x 4. The lanes of a warp form a rectangle of
// 4 x 8, so a warp loads only 4 different pieces of A and 8 of B at a time.
template <unsigned kRows_, unsigned kCols_, unsigned kThreadRows_, unsigned kThreadCols_,
          unsigned kBuffers_>
struct Tile {
    static constexpr unsigned kRows = kRows_, kCols = kCols_, kBuffers = kBuffers_;
    static constexpr unsigned kThreadRows = kThreadRows_, kThreadCols = kThreadCols_;
    static constexpr unsigned kWarpRows = 4 * kThreadRows, kWarpCols = 8 * kThreadCols;
    static constexpr unsigned kThreads = (kRows / kWarpRows) * (kCols / kWarpCols) * 32;
    // An SM has 65,536 registers. A thread has room for twice as many as it has sums.
    static constexpr unsigned kBlocksPerSm = 65536 / (2 * kThreads * kThreadRows * kThreadCols);
    static constexpr unsigned kPitchA = kRows + 4;  // padding: columns of A begin in other banks
    static constexpr std::size_t kSharedBytes =
        sizeof(float) * kBuffers * kStep * (kPitchA + kCols);
    static_assert(kRows % kWarpRows == 0 && kCols % kWarpCols == 0, "warps cover the tile");
};

// The first row and column of a block's tile of C.
struct Place {
    unsigned row, col;
};

// Blocks take the tiles of C row after row.
template <class T>
__device__ Place placeByRows(unsigned n) {
    const unsigned tileCols = (n + T::kCols - 1) / T::kCols;
    return {blockIdx.x / tileCols * T::kRows, blockIdx.x % tileCols * T::kCols};
}

// What a thread multiplies at a time: its elements of one column of A and of one row of B.
template <class T>
struct Fragments {
    float a[T::kThreadRows], b[T::kThreadCols];
};

template <class T>
using Sums = float[T::kThreadRows][T::kThreadCols];

// Multiplies each element of A with each element of B, row after row.
template <class T>
__device__ void multiplyAdd(Sums<T>& sums, const Fragments<T>& of) {
#pragma unroll
    for (unsigned i = 0; i < T::kThreadRows; ++i) {
#pragma unroll
        for (unsigned j = 0; j < T::kThreadCols; ++j)
            sums[i][j] = fmaf(of.a[i], of.b[j], sums[i][j]);
    }
}

// The tiles of a block, which move along k, and what one thread does with them.
//
// kWhole says that m and n are multiples of the tile's sides. Then no tile sticks out of C, and
// each row of B begins at a multiple of 16 bytes, so B is copied 16 bytes at a time and
// otherwise 4. The tile of A is transposed on its way: what was a column becomes a row, so that a
// thread finds its elements of a column side by side. For this reason, A is always copied 4 bytes
// at a time.
template <class T, bool kWhole>
class BlockTiles {
  public:
    // The tiles move over `length` columns of A, from number firstK on.
    __device__ BlockTiles(float4* shared, const float* a, const float* b, unsigned m, unsigned n,
                          unsigned k, Place place, unsigned firstK, unsigned length)
        : tileA_(reinterpret_cast<float*>(shared)),
          tileB_(tileA_ + T::kBuffers * kStep * T::kPitchA),
          a_(a),
          b_(b),
          m_(m),
          n_(n),
          k_(k),
          place_(place),
          firstK_(firstK),
          length_(length),
          left_(length / kStep) {
        const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        firstRow_ = warp % (T::kRows / T::kWarpRows) * T::kWarpRows + lane % 4 * 4;
        firstCol_ = warp / (T::kRows / T::kWarpRows) * T::kWarpCols + lane / 4 * 4;

        const unsigned colA = threadIdx.x % kStep;
        rowA_ = threadIdx.x / kStep;
        toA_ = tileA_ + colA * T::kPitchA + rowA_;
        fromA_ = a + firstK + colA;
        if (kWhole) fromA_ += std::size_t{place.row + rowA_} * k;

        const unsigned rowB = threadIdx.x / kPiecesB, colB = threadIdx.x % kPiecesB * kWide;
        const unsigned col = kWhole ? place.col + colB : min(place.col + colB, n - 1);
        toB_ = tileB_ + rowB * T::kCols + colB;
        fromB_ = b + std::size_t{firstK + rowB} * n + col;
    }

    // Begins this thread's copies of the next tiles, or one of `parts` equal parts of them. Rows
    // and columns outside of the matrices are replaced by the last ones: nobody stores their
    // results.
    __device__ void copy(unsigned buffer, unsigned part = 0, unsigned parts = 1) const {
        float* const toA = toA_ + buffer * kStep * T::kPitchA;
        float* const toB = toB_ + buffer * kStep * T::kCols;
#pragma unroll
        for (unsigned i = 0; i < kCopiesA; ++i) {
            if (i * parts / kCopiesA != part) continue;
            unsigned row = i * kRowsAtOnceA;
            if (!kWhole) row = min(place_.row + rowA_ + row, m_ - 1);
            __pipeline_memcpy_async(toA + i * kRowsAtOnceA, fromA_ + std::size_t{row} * k_,
                                    sizeof(float));
        }
#pragma unroll
        for (unsigned i = 0; i < kCopiesB; ++i) {
            if (i * parts / kCopiesB != part) continue;
            __pipeline_memcpy_async(toB + i * kRowsAtOnceB * T::kCols,
                                    fromB_ + std::size_t{i * kRowsAtOnceB} * n_,
                                    kWide * sizeof(float));
        }
    }

    // Ends the group of copies and moves on along k. A kernel with two buffers ends one group more
    // than there are tiles. That group copies the last tiles once more, and nobody uses them, but
    // the loop needs no case of its own for its end.
    __device__ void commit() {
        __pipeline_commit();
        if (--left_ > 0) {
            fromA_ += kStep;
            fromB_ += std::size_t{kStep} * n_;
        }
    }

    // Loads what this thread needs for one step of the tiles, 16 bytes at a time.
    __device__ void load(Fragments<T>& to, unsigned buffer, unsigned step) const {
        const float* const column = tileA_ + (buffer * kStep + step) * T::kPitchA + firstRow_;
        const float* const row = tileB_ + (buffer * kStep + step) * T::kCols + firstCol_;
#pragma unroll
        for (unsigned i = 0; i < T::kThreadRows; i += 4) {
            const float4 v = *reinterpret_cast<const float4*>(column + 4 * i);
            to.a[i] = v.x, to.a[i + 1] = v.y, to.a[i + 2] = v.z, to.a[i + 3] = v.w;
        }
#pragma unroll
        for (unsigned j = 0; j < T::kThreadCols; j += 4) {
            const float4 v = *reinterpret_cast<const float4*>(row + 8 * j);
            to.b[j] = v.x, to.b[j + 1] = v.y, to.b[j + 2] = v.z, to.b[j + 3] = v.w;
        }
    }

    // Multiplies what does not fill a tile: up to 15 columns of A and rows of B.
    __device__ void multiplyRest(Sums<T>& sums) const {
        const unsigned rest = length_ % kStep, first = firstK_ + length_ - rest;
        if (rest == 0) return;
        __pipeline_wait_prior(0);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < rest * T::kRows; i += T::kThreads) {
            const std::size_t row = min(place_.row + i / rest, m_ - 1);
            tileA_[i % rest * T::kPitchA + i / rest] = a_[row * k_ + first + i % rest];
        }
        for (unsigned i = threadIdx.x; i < rest * T::kCols; i += T::kThreads) {
            const unsigned col = min(place_.col + i % T::kCols, n_ - 1);
            tileB_[i] = b_[std::size_t{first + i / T::kCols} * n_ + col];
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned step = 0; step < rest; ++step) {
            Fragments<T> fragments;
            load(fragments, 0, step);
            multiplyAdd<T>(sums, fragments);
        }
    }

    __device__ void store(float* c, const Sums<T>& sums) const {
#pragma unroll
        for (unsigned i = 0; i < T::kThreadRows; ++i) {
            const unsigned row = place_.row + firstRow_ + i / 4 * 16 + i % 4;
#pragma unroll
            for (unsigned j = 0; j < T::kThreadCols; ++j) {
                const unsigned col = place_.col + firstCol_ + j / 4 * 32 + j % 4;
                if (kWhole || (row < m_ && col < n_)) c[std::size_t{row} * n_ + col] = sums[i][j];
            }
        }
    }

  private:
    static constexpr unsigned kWide = kWhole ? 4 : 1, kPiecesB = T::kCols / kWide;
    static constexpr unsigned kRowsAtOnceA = T::kThreads / kStep;
    static constexpr unsigned kRowsAtOnceB = T::kThreads / kPiecesB;
    static constexpr unsigned kCopiesA = T::kRows / kRowsAtOnceA, kCopiesB = kStep / kRowsAtOnceB;

    float *tileA_, *tileB_;  // in shared memory, kBuffers tiles of each
    const float *a_, *b_;    // the matrices
    unsigned m_, n_, k_;
    Place place_;
    unsigned firstK_, length_;      // of the columns of A
    unsigned left_;                 // tiles along k that are not copied yet
    unsigned rowA_;                 // the first row of the tile of A that this thread copies
    float *toA_, *toB_;             // what it copies first, counted from the beginning of a buffer
    const float *fromA_, *fromB_;   // and where that comes from
    unsigned firstRow_, firstCol_;  // of this thread's results in the block's tile of C
};
