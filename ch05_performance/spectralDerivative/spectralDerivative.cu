// Differentiates a field along x, y and z. The field consists of many elements of N x N x N points,
// and the kernels compute du/dx, du/dy and du/dz of each. A derivative along a line of N points is
// a product with an N x N matrix, so all of this is matrix products: many, small, and along y with
// strides that a BLAS cannot describe.
//
//   1 naive          a thread for each result; it loads both factors from global memory
//   2 inShared       element and matrix in shared memory; each direction loads the element again
//   3 fused          the same kernel in one launch, which loads the element once
//   4 registerLines  a thread has four lines in registers; a value of the matrix serves all four
//   5 mirroredLines  half of the multiply-adds: the matrix is antisymmetric about its centre
//     cublasSgemm    cuBLAS in FP32: one product along x, and many small ones along y and z
//     onTheCpu       loops on all cores of the host
//     libNAME        a BLAS of the host, if --blas names one
//
// The last rows are cuBLAS again, each direction alone.
//
//   bytes   to and from device memory for each point, if caches keep nothing between launches
//   GB/s    these bytes, divided by the time
//
//   ./lab run spectralDerivative -- --points=16 --elements=8K
//   ./lab test spectralDerivative
//   ./lab profile spectralDerivative
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target spectralDerivative
//   build/ch05_performance/spectralDerivative --points=16 --elements=8K
//   ncu build/ch05_performance/spectralDerivative --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch05_performance/spectralDerivative/spectralDerivative.cu
//       common/*.cpp common/*.cu -DLAB_HAVE_CUBLAS -lcublas -o build/spectralDerivative

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../allowShared.cuh"
#include "cublasDerivatives.cuh"
#include "differentiationMatrix.h"
#include "fourLines.cuh"
#include "gradientOnHost.h"
#include "installedBlas.h"
#include "lab.cuh"
#include "waveField.h"

constexpr unsigned kX = 0, kY = 1, kZ = 2;  // directions

// The distance between neighbouring points of a line.
__device__ constexpr unsigned strideAlong(unsigned direction, unsigned n) {
    return direction == kX ? 1 : direction == kY ? n : n * n;
}

// In all kernels, `columns` holds the matrix D column by column: D_ij is columns[j * n + i], so
// threads with neighbouring i load neighbouring values. The gradient is all of du/dx, then all of
// du/dy, then all of du/dz.

// An element has `parts` blocks. Each multiply-add loads both of its factors from global memory.
template <unsigned kDirection>
__global__ void naive(const float* __restrict__ u, const float* __restrict__ columns,
                      float* __restrict__ derivative, unsigned n, unsigned parts) {
    const unsigned points = n * n * n, stride = strideAlong(kDirection, n);
    const unsigned p = blockIdx.x % parts * blockDim.x + threadIdx.x;
    if (p >= points) return;
    const std::size_t first = std::size_t{blockIdx.x / parts} * points;
    const unsigned i = p / stride % n;  // place in the line
    const float* const line = u + first + p - i * stride;
    float sum = 0;
    for (unsigned j = 0; j < n; ++j) sum += columns[j * n + i] * line[j * stride];
    derivative[first + p] = sum;
}

// A block has one element, and computes the directions first ... last - 1. It loads the element and
// the matrix from global memory once. Each multiply-add still needs two loads, but from shared
// memory.
__global__ void inShared(const float* __restrict__ u, const float* __restrict__ columns,
                         float* __restrict__ gradient, unsigned n, unsigned first, unsigned last) {
    extern __shared__ float4 shared[];
    const unsigned points = n * n * n;
    float* const element = reinterpret_cast<float*>(shared);
    float* const matrix = element + points;
    const std::size_t start = std::size_t{blockIdx.x} * points;
    for (unsigned p = threadIdx.x; p < points; p += blockDim.x) element[p] = u[start + p];
    for (unsigned p = threadIdx.x; p < n * n; p += blockDim.x) matrix[p] = columns[p];
    __syncthreads();
    for (unsigned direction = first; direction < last; ++direction) {
        const unsigned stride = strideAlong(direction, n);
        float* const derivative = gradient + std::size_t{gridDim.x} * points * direction + start;
        for (unsigned p = threadIdx.x; p < points; p += blockDim.x) {
            const unsigned i = p / stride % n;
            const float* const line = element + p - i * stride;
            float sum = 0;
            for (unsigned j = 0; j < n; ++j) sum += matrix[j * n + i] * line[j * stride];
            derivative[p] = sum;
        }
    }
}

// Two loads for each multiply-add are more than shared memory can deliver. From here on, a thread
// has four lines in registers, so each value of the matrix that it loads serves four multiply-adds.
// All lanes of a warp load the same value.
//
// Computes the derivatives of the four lines. store(i, sums) gets the results i ... i + 3, where
// sums[r][l] is result i + r of line l.
template <unsigned kN, typename Store>
__device__ void differentiate(const FourLines<kN>& lines, const float* matrix, Store store) {
#pragma unroll 1
    for (unsigned i = 0; i < kN; i += 4) {
        float sums[4][4] = {};
#pragma unroll
        for (unsigned j = 0; j < kN; ++j) {
            const float4 v = *reinterpret_cast<const float4*>(matrix + j * kN + i);
            const float ofMatrix[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
                for (unsigned l = 0; l < 4; ++l) sums[r][l] += ofMatrix[r] * lines[j][l];
            }
        }
        store(i, sums);
    }
}

// The same results from half of the multiply-adds. Let i' = kN - 1 - i be the mirror image of i.
// Seen from the other end of the line, the matrix is the same but for its sign: D_i'j' = -D_ij.
// Therefore two results at mirrored places have
//
//   (r_i + r_i') / 2 = sum over j < kN / 2 of (D_ij - D_ij') / 2 * (u_j - u_j')
//   (r_i - r_i') / 2 = sum over j < kN / 2 of (D_ij + D_ij') / 2 * (u_j + u_j')
//
// First it replaces the front half of each line by the differences u_j - u_j', and the back half by
// the sums u_j + u_j'.
template <unsigned kN, typename Store>
__device__ void differentiateMirrored(FourLines<kN>& lines, const float* factors, Store store) {
    constexpr unsigned kHalf = kN / 2;
#pragma unroll
    for (unsigned j = 0; j < kHalf; ++j) {
#pragma unroll
        for (unsigned l = 0; l < 4; ++l) {
            const float a = lines[j][l], b = lines[kN - 1 - j][l];
            lines[j][l] = a - b;
            lines[kN - 1 - j][l] = a + b;
        }
    }
#pragma unroll 1
    for (unsigned i = 0; i < kHalf; i += 4) {
        float halfSums[4][4] = {}, halfDifferences[4][4] = {};
#pragma unroll
        for (unsigned j = 0; j < kHalf; ++j) {
            const float4 v = *reinterpret_cast<const float4*>(factors + j * kN + i);
            const float4 w = *reinterpret_cast<const float4*>(factors + j * kN + kHalf + i);
            const float ofDifference[4] = {v.x, v.y, v.z, v.w}, ofSum[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
            for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
                for (unsigned l = 0; l < 4; ++l) {
                    halfSums[r][l] += ofDifference[r] * lines[j][l];
                    halfDifferences[r][l] += ofSum[r] * lines[kN - 1 - j][l];
                }
            }
        }
        float front[4][4], back[4][4];
#pragma unroll
        for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
            for (unsigned l = 0; l < 4; ++l) {
                front[r][l] = halfSums[r][l] + halfDifferences[r][l];
                back[3 - r][l] = halfSums[r][l] - halfDifferences[r][l];
            }
        }
        store(i, front);
        store(kN - 4 - i, back);
    }
}

// The factors that differentiateMirrored() loads, in kN / 2 rows of kN values. Row j has
// (D_ij - D_ij') / 2 for all i < kN / 2, then (D_ij + D_ij') / 2 for all i < kN / 2.
template <unsigned kN>
__device__ float mirroredFactor(const float* columns, unsigned j, unsigned place) {
    const unsigned i = place % (kN / 2);
    const float ofJ = columns[j * kN + i], ofMirrored = columns[(kN - 1 - j) * kN + i];
    return (place < kN / 2 ? ofJ - ofMirrored : ofJ + ofMirrored) / 2;
}

// The kernel of both rungs. A block has one element or several (Lines), each in a tile of shared
// memory, padded to avoid bank conflicts. The threads take lines along z straight from global
// memory, and lines along y and x from the tile.
//
// kWhole: n is kN. Otherwise n is smaller, and the tile holds zeros beyond the element.
// kMirrored: for mirroredLines, with differentiateMirrored(). It needs kWhole: the ends of a line
// with zeros behind it are not mirror images of each other.
template <unsigned kN, bool kWhole, bool kMirrored>
__global__ void __launch_bounds__(Lines<kN>::kThreads, kN == 24 ? 2 : 1)
    registerLines(const float* __restrict__ u, const float* __restrict__ columns,
                  float* __restrict__ gradient, unsigned runtimeN, std::size_t elements) {
    using L = Lines<kN>;
    extern __shared__ float4 shared[];
    float* const matrix = reinterpret_cast<float*>(shared);
    const unsigned t = threadIdx.x % L::kThreadsPerElement;
    const unsigned inBlock = threadIdx.x / L::kThreadsPerElement;
    float* const tile = matrix + kN * kN + inBlock * kN * L::kPlane;

    const unsigned n = kWhole ? kN : runtimeN, points = n * n * n;
    const std::size_t element = std::size_t{blockIdx.x} * L::kElements + inBlock;
    const bool mine = element < elements;  // the last block may have fewer elements
    const std::size_t start = element * points, size = elements * points;
    const float* const from = u + start;
    float* const dx = gradient + start;  // du/dy lies `size` floats behind it, du/dz twice that

    // How many of the four neighbours from `x` on are inside the element, in row y of plane z.
    const auto inside = [&](unsigned x, unsigned y, unsigned z) -> unsigned {
        if (kWhole) return mine ? 4 : 0;
        return mine && x < n && y < n && z < n ? min(n - x, 4u) : 0;
    };
    FourLines<kN> lines;
    const auto derivatives = [&](const auto& store) {
        if constexpr (kMirrored) {
            differentiateMirrored<kN>(lines, matrix, store);
        } else {
            differentiate<kN>(lines, matrix, store);
        }
    };

    // Along z. The lines come straight from global memory, four neighbours at a time.
    const unsigned x = t % (kN / 4) * 4, other = t / (kN / 4);
#pragma unroll
    for (unsigned z = 0; z < kN; ++z) {
        loadFour<kWhole>(lines[z], from + z * n * n + other * n + x, inside(x, other, z));
    }
    for (unsigned p = threadIdx.x; p < (kMirrored ? kN * kN / 2 : kN * kN); p += L::kThreads) {
        const unsigned i = p % kN, j = p / kN;
        if constexpr (kMirrored) {
            matrix[p] = mirroredFactor<kN>(columns, j, i);
        } else {
            matrix[p] = i < n && j < n ? columns[j * n + i] : 0;
        }
    }
    __syncthreads();  // the matrix is complete
#pragma unroll
    for (unsigned z = 0; z < kN; ++z) {
        *reinterpret_cast<float4*>(tile + z * L::kPlane + other * L::kRow + x) = asFloat4(lines[z]);
    }
    derivatives([&](unsigned i, const float(&sums)[4][4]) {
#pragma unroll
        for (unsigned r = 0; r < 4; ++r) {
            const unsigned z = i + r;
            storeFour<kWhole>(dx + 2 * size + z * n * n + other * n + x, asFloat4(sums[r]),
                              inside(x, other, z));
        }
    });
    __syncthreads();  // the element is complete

    // Along y. The lines come from the tile, again four neighbours at a time.
#pragma unroll
    for (unsigned y = 0; y < kN; ++y) {
        loadFour<true>(lines[y], tile + other * L::kPlane + y * L::kRow + x, 4);
    }
    derivatives([&](unsigned i, const float(&sums)[4][4]) {
#pragma unroll
        for (unsigned r = 0; r < 4; ++r) {
            const unsigned y = i + r;
            storeFour<kWhole>(dx + size + other * n * n + y * n + x, asFloat4(sums[r]),
                              inside(x, y, other));
        }
    });
    __syncthreads();  // nobody needs u any more

    // Along x. A line is a row of the tile. Its derivative takes its place there. Then all threads
    // together store the rows, so that the stores are coalesced.
    float* rows[4];
#pragma unroll
    for (unsigned l = 0; l < 4; ++l) {
        const unsigned row = t + l * L::kThreadsPerElement;
        rows[l] = tile + row / kN * L::kPlane + row % kN * L::kRow;
#pragma unroll
        for (unsigned j = 0; j < kN; j += 4) {
            const float4 v = *reinterpret_cast<const float4*>(rows[l] + j);
            lines[j][l] = v.x, lines[j + 1][l] = v.y, lines[j + 2][l] = v.z, lines[j + 3][l] = v.w;
        }
    }
    derivatives([&](unsigned i, const float(&sums)[4][4]) {
#pragma unroll
        for (unsigned l = 0; l < 4; ++l) {
            *reinterpret_cast<float4*>(rows[l] + i) =
                make_float4(sums[0][l], sums[1][l], sums[2][l], sums[3][l]);
        }
    });
    __syncthreads();  // du/dx is complete
#pragma unroll 4
    for (unsigned z = 0; z < kN; ++z) {
        const float4 four =
            *reinterpret_cast<const float4*>(tile + z * L::kPlane + other * L::kRow + x);
        storeFour<kWhole>(dx + z * n * n + other * n + x, four, inside(x, other, z));
    }
}

// How main() launches registerLines and mirroredLines.
struct Plan {
    void (*kernel)(const float*, const float*, float*, unsigned, std::size_t);
    void (*mirrored)(const float*, const float*, float*, unsigned, std::size_t);  // may be null
    unsigned grid, threads;
    std::size_t sharedBytes;
};

template <unsigned kN>
Plan planFor(std::size_t n, std::size_t elements) {
    using L = Lines<kN>;
    return {n == kN ? registerLines<kN, true, false> : registerLines<kN, false, false>,
            n == kN ? registerLines<kN, true, true> : nullptr,
            lab::blocksFor(elements, L::kElements), L::kThreads, L::kSharedBytes};
}

int main(int argc, char** argv) {
    std::size_t n, elements;
    std::string blasName;
    lab::Exercise exercise("spectralDerivative",
                           "Differentiates elements of N x N x N points along x, y and z.");
    exercise.option("points", &n, 16, 2, 32, "points N of an element along x, y and z");
    exercise.option("elements", &elements, {2048, 50}, 1, lab::kMaxSize, "number of elements");
    exercise.options().text("blas", &blasName, "FILE", "the name of a shared library",
                            "adds a row for a BLAS of the host, e.g. libopenblas.so.0");
    exercise.parse(argc, argv);
    const std::size_t points = n * n * n;
    if (elements > lab::kMaxSize / points) {
        exercise.reject(lab::formatted("--points=%zu --elements=%s: expected at most %s points", n,
                                       lab::withSuffix(elements).c_str(),
                                       lab::withSuffix(lab::kMaxSize).c_str()));
    }
    std::optional<InstalledBlas> blas;
    if (!blasName.empty()) blas.emplace(blasName);
    exercise.columns(lab::Columns::kLadder,
                     {{"regs", 4, "registers", lab::OwnColumn::kOnGpu},
                      {"bytes", 5, "bytes_per_point", lab::OwnColumn::kPredicted},
                      {"GB/s", 6, "moved_gbps", lab::OwnColumn::kOnGpu},
                      {"size", 0, "field_points"}},
                     {"grid"});

    const std::vector<double> matrix = differentiationMatrix(n);
    std::vector<float> hostColumns(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            hostColumns[j * n + i] = static_cast<float>(matrix[i * n + j]);
    }
    const WaveField field(n, elements, exercise.seed());
    const std::size_t size = elements * points;
    const lab::DeviceBuffer<float> bufferU(field.values), bufferColumns(hostColumns);
    lab::DeviceBuffer<float> bufferGradient(3 * size);
    const float *const u = bufferU.get(), *const columns = bufferColumns.get();
    float* const gradient = bufferGradient.get();

    exercise.title("gradient of %s elements of %zu x %zu x %zu points",
                   lab::withCommas(elements).c_str(), n, n, n);

    const auto wrong = [&](const auto& result) {
        return lab::mismatch(result, field.gradient, derivativeTolerance(n));
    };
    const auto cells = [&](const lab::Statistics& time, unsigned bytes, lab::Cell registers = {}) {
        const double rate = time.median > 0 ? 1e-6 * bytes * size / time.median : 0;  // GB/s
        return std::vector<lab::Cell>{registers, bytes, rate > 0 ? lab::Cell(rate, 1) : lab::Cell(),
                                      size};
    };
    // Three launches each load a value and store a derivative. One launch loads a value and stores
    // three derivatives.
    constexpr unsigned kBytes = 3 * 2 * sizeof(float), kFusedBytes = (1 + 3) * sizeof(float);
    const lab::Work work = lab::flops(3 * 2.0 * n * size);  // a multiply-add is two operations

    lab::Ladder ladder(exercise, bufferGradient);
    const auto rung = [&](const char* name, unsigned grid, unsigned block, std::size_t sharedBytes,
                          unsigned bytes, auto* kernel, const lab::Launch& launch) {
        if (!allowShared(kernel, sharedBytes)) {
            exercise.note(
                lab::formatted("%s needs %zu bytes of shared memory for a block, more than this "
                               "GPU has",
                               name, sharedBytes));
            return;
        }
        const auto check = [&, kernel, bytes](const lab::Statistics& time) -> lab::Finding {
            cudaFuncAttributes attributes;
            CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
            return {wrong(bufferGradient), cells(time, bytes, attributes.numRegs)};
        };
        ladder.rung(name, grid, block, work, check, launch);
    };
    constexpr unsigned kNaiveBlock = 256, kNoShared = 0;
    const unsigned parts = lab::blocksFor(points, kNaiveBlock);
    const unsigned naiveGrid = lab::blocksFor(elements * parts, 1);
    rung("naive", naiveGrid, kNaiveBlock, kNoShared, kBytes, naive<kX>, [&] {
        naive<kX><<<naiveGrid, kNaiveBlock>>>(u, columns, gradient, n, parts);
        naive<kY><<<naiveGrid, kNaiveBlock>>>(u, columns, gradient + size, n, parts);
        naive<kZ><<<naiveGrid, kNaiveBlock>>>(u, columns, gradient + 2 * size, n, parts);
    });
    const unsigned grid = lab::blocksFor(elements, 1);
    const unsigned block = std::min<std::size_t>(1024, (points + 31) / 32 * 32);
    const std::size_t sharedBytes = sizeof(float) * (points + n * n);
    rung("inShared", grid, block, sharedBytes, kBytes, inShared, [&] {
        for (const unsigned direction : {kX, kY, kZ}) {
            inShared<<<grid, block, sharedBytes>>>(u, columns, gradient, n, direction,
                                                   direction + 1);
        }
    });
    rung("fused", grid, block, sharedBytes, kFusedBytes, inShared,
         [&] { inShared<<<grid, block, sharedBytes>>>(u, columns, gradient, n, kX, kZ + 1); });
    const Plan plan = n <= 8    ? planFor<8>(n, elements)
                      : n <= 16 ? planFor<16>(n, elements)
                      : n <= 24 ? planFor<24>(n, elements)
                                : planFor<32>(n, elements);
    rung("registerLines", plan.grid, plan.threads, plan.sharedBytes, kFusedBytes, plan.kernel, [&] {
        plan.kernel<<<plan.grid, plan.threads, plan.sharedBytes>>>(u, columns, gradient, n,
                                                                   elements);
    });
    if (plan.mirrored == nullptr) {
        exercise.note("mirroredLines: only for elements of 8, 16, 24 or 32 points along a side");
    } else {
        rung("mirroredLines", plan.grid, plan.threads, plan.sharedBytes, kFusedBytes, plan.mirrored,
             [&] {
                 plan.mirrored<<<plan.grid, plan.threads, plan.sharedBytes>>>(u, columns, gradient,
                                                                              n, elements);
             });
    }
    const auto isGradient = [&](const lab::Statistics& time) -> lab::Finding {
        return {wrong(bufferGradient), cells(time, kBytes)};
    };
    lab::cublasDerivatives(ladder, "cublasSgemm", work, isGradient, u, columns, gradient, n,
                           elements, {kX, kY, kZ});

    const auto onHost = [&](const std::string& name, const auto& differentiate) {
        std::vector<float> result;
        const auto check = [&](const lab::Statistics& time) -> lab::Finding {
            return {wrong(result), cells(time, kBytes)};
        };
        ladder.host(name, work, check, [&] {
            if (result.empty()) result.assign(3 * size, NAN);  // the check notices gaps
            differentiate(result.data());
        });
    };
    onHost("onTheCpu", [&](float* result) {
        differentiateOnCpu(field.values.data(), hostColumns.data(), result, n, elements);
    });
    if (blas && !blas->problem().empty()) {
        exercise.note("no row for --blas: " + lab::inOneLine(blas->problem()));
    } else if (blas) {
        onHost(blasName.substr(blasName.rfind('/') + 1), [&](float* result) {
            differentiateByBlas(*blas, field.values.data(), hostColumns.data(), result, n,
                                elements);
        });
    }
    ladder.announceFastest();

    // One direction alone. The other two parts of the gradient keep their poison.
    lab::Ladder alone(exercise, bufferGradient);
    for (const auto& [name, direction] :
         {std::pair{"cublasSgemm x", kX}, std::pair{"cublasSgemm y", kY},
          std::pair{"cublasSgemm z", kZ}}) {
        const auto check = [&, direction = direction](const lab::Statistics& time) -> lab::Finding {
            lab::DeviceBuffer<float> part(size);
            CUDA_CHECK(cudaMemcpy(part.get(), gradient + direction * size, part.bytes(),
                                  cudaMemcpyDeviceToDevice));
            const auto expected = [&](std::size_t i) {
                return field.gradient[direction * size + i];
            };
            return {lab::mismatchOf(part, expected, derivativeTolerance(n)),
                    cells(time, kBytes / 3)};
        };
        lab::cublasDerivatives(alone, name, lab::flops(2.0 * n * size), check, u, columns, gradient,
                               n, elements, {direction});
    }
    return exercise.finish();
}
