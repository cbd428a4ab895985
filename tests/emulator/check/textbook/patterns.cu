// For test_textbook.py: right programs as textbooks and courses have them. These are the parallel
// patterns.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "programs.cuh"

namespace cg = cooperative_groups;

// ---- one thread for each element

__global__ void addVectors(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
static bool vectorAdd() {
    int n = 5000;
    size_t size = n * sizeof(float);
    float* h_a = (float*)malloc(size);
    float* h_b = (float*)malloc(size);
    float* h_c = (float*)malloc(size);
    for (int i = 0; i < n; i++) {
        h_a[i] = rand() / (float)RAND_MAX;
        h_b[i] = rand() / (float)RAND_MAX;
    }
    float *d_a, *d_b, *d_c;
    cudaMalloc((void**)&d_a, size);
    cudaMalloc((void**)&d_b, size);
    cudaMalloc((void**)&d_c, size);
    cudaMemcpy(d_a, h_a, size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, size, cudaMemcpyHostToDevice);
    int threadsPerBlock = 256;
    int blocksPerGrid = (n + threadsPerBlock - 1) / threadsPerBlock;
    addVectors<<<blocksPerGrid, threadsPerBlock>>>(d_a, d_b, d_c, n);
    cudaMemcpy(h_c, d_c, size, cudaMemcpyDeviceToHost);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        if (fabs(h_a[i] + h_b[i] - h_c[i]) > 1e-5) ok = false;
    }
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    free(h_a);
    free(h_b);
    free(h_c);
    return ok;
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}
static bool saxpyGridStride() {
    const int n = 10007;
    std::vector<float> x(n, 1.5f), y(n);
    for (int i = 0; i < n; ++i) y[i] = i % 17;
    float *dx, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    saxpy<<<8, 128>>>(n, 2.0f, dx, dy);
    std::vector<float> result(n);
    cudaMemcpy(result.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    float worst = 0;
    for (int i = 0; i < n; ++i) worst = std::max(worst, std::abs(result[i] - (3 + y[i])));
    cudaFree(dx);
    cudaFree(dy);
    return worst < 1e-5f;
}
static bool saxpyManaged() {
    int n = 1 << 12;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    for (int i = 0; i < n; i++) {
        x[i] = 1.0f;
        y[i] = 2.0f;
    }
    saxpy<<<(n + 255) / 256, 256>>>(n, 3.0f, x, y);
    cudaDeviceSynchronize();
    float maxError = 0.0f;
    for (int i = 0; i < n; i++) maxError = fmax(maxError, fabs(y[i] - 5.0f));
    cudaFree(x);
    cudaFree(y);
    return maxError == 0;
}

#define DIM 100
__device__ int julia(int x, int y) {
    float re = 1.5f * (DIM / 2 - x) / (DIM / 2), im = 1.5f * (DIM / 2 - y) / (DIM / 2);
    for (int i = 0; i < 50; i++) {
        float next = re * re - im * im - 0.8f;
        im = 2 * re * im + 0.156f;
        re = next;
        if (re * re + im * im > 1000) return 0;
    }
    return 1;
}
__global__ void paintJulia(unsigned char* image) {
    int offset = blockIdx.x + blockIdx.y * gridDim.x;
    int value = julia(blockIdx.x, blockIdx.y);
    image[offset * 4 + 0] = 255 * value;
    image[offset * 4 + 1] = 0;
    image[offset * 4 + 2] = 0;
    image[offset * 4 + 3] = 255;
}
static bool juliaSet() {
    std::vector<unsigned char> image(DIM * DIM * 4);
    unsigned char* d_image;
    cudaMalloc(&d_image, image.size());
    dim3 grid(DIM, DIM);
    paintJulia<<<grid, 1>>>(d_image);
    cudaMemcpy(image.data(), d_image, image.size(), cudaMemcpyDeviceToHost);
    cudaFree(d_image);
    int inside = 0;
    for (int i = 0; i < DIM * DIM; i++) {
        if (image[4 * i] != 0 && image[4 * i] != 255) return false;
        if (image[4 * i + 1] != 0 || image[4 * i + 3] != 255) return false;
        inside += image[4 * i] == 255;
    }
    return inside > 0 && inside < DIM * DIM;
}

__global__ void find(const int* sorted, int n, const int* wanted, int* where, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int low = 0, high = n - 1;
    where[i] = -1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (sorted[middle] == wanted[i]) {
            where[i] = middle;
            break;
        }
        if (sorted[middle] < wanted[i])
            low = middle + 1;
        else
            high = middle - 1;
    }
}
static bool binarySearch() {
    const int n = 1000, m = 333;
    std::vector<int> sorted(n), wanted(m), where(m);
    for (int i = 0; i < n; i++) sorted[i] = 3 * i;
    for (int i = 0; i < m; i++) wanted[i] = 7 * i;
    int *d_sorted, *d_wanted, *d_where;
    cudaMalloc(&d_sorted, n * sizeof(int));
    cudaMalloc(&d_wanted, m * sizeof(int));
    cudaMalloc(&d_where, m * sizeof(int));
    cudaMemcpy(d_sorted, sorted.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_wanted, wanted.data(), m * sizeof(int), cudaMemcpyHostToDevice);
    find<<<(m + 127) / 128, 128>>>(d_sorted, n, d_wanted, d_where, m);
    cudaMemcpy(where.data(), d_where, m * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_sorted);
    cudaFree(d_wanted);
    cudaFree(d_where);
    for (int i = 0; i < m; i++) {
        auto found = std::lower_bound(sorted.begin(), sorted.end(), wanted[i]);
        bool isIn = found != sorted.end() && *found == wanted[i];
        if (where[i] != (isIn ? found - sorted.begin() : -1)) return false;
    }
    return true;
}

// ---- tiles in shared memory

const int TILE = 16;
__global__ void transpose(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < cols) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
static bool transposeTiled() {
    const int rows = 45, cols = 70;
    float in[rows * cols], out[rows * cols];
    for (int i = 0; i < rows * cols; i++) in[i] = i;
    float *d_in, *d_out;
    cudaMalloc(&d_in, sizeof(in));
    cudaMalloc(&d_out, sizeof(out));
    cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
    dim3 block(TILE, TILE), grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose<<<grid, block>>>(d_in, d_out, rows, cols);
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < cols; x++) {
            if (out[x * rows + y] != in[y * cols + x]) return false;
        }
    }
    return true;
}

#define RADIUS 3
#define BLOCK_SIZE 128
__global__ void stencil(const int* in, int* out) {
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x + RADIUS;
    int lindex = threadIdx.x + RADIUS;
    temp[lindex] = in[gindex];
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = in[gindex - RADIUS];
        temp[lindex + BLOCK_SIZE] = in[gindex + BLOCK_SIZE];
    }
    __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
    out[gindex] = result;
}
static bool stencilHalo() {
    const int n = 8 * BLOCK_SIZE, all = n + 2 * RADIUS;
    int *in = new int[all], *out = new int[all];
    for (int i = 0; i < all; i++) in[i] = i * i % 13;
    int *d_in, *d_out;
    cudaMalloc(&d_in, all * sizeof(int));
    cudaMalloc(&d_out, all * sizeof(int));
    cudaMemcpy(d_in, in, all * sizeof(int), cudaMemcpyHostToDevice);
    stencil<<<n / BLOCK_SIZE, BLOCK_SIZE>>>(d_in, d_out);
    // The whole array, though the kernel leaves its ends out: the host does not use them either.
    cudaMemcpy(out, d_out, all * sizeof(int), cudaMemcpyDeviceToHost);
    bool ok = true;
    for (int i = RADIUS; i < n + RADIUS; i++) {
        int sum = std::accumulate(in + i - RADIUS, in + i + RADIUS + 1, 0);
        ok = ok && out[i] == sum;
    }
    cudaFree(d_in);
    cudaFree(d_out);
    delete[] in;
    delete[] out;
    return ok;
}

__global__ void blur(const unsigned char* in, unsigned char* out, int w, int h) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < w && row < h) {
        for (int channel = 0; channel < 3; ++channel) {
            int sum = 0, pixels = 0;
            for (int dy = -1; dy <= 1; ++dy) {
                for (int dx = -1; dx <= 1; ++dx) {
                    int y = row + dy, x = col + dx;
                    if (y >= 0 && y < h && x >= 0 && x < w) {
                        sum += in[(y * w + x) * 3 + channel];
                        ++pixels;
                    }
                }
            }
            out[(row * w + col) * 3 + channel] = (unsigned char)(sum / pixels);
        }
    }
}
static bool blurBorders() {
    const int w = 37, h = 29;
    std::vector<unsigned char> in(w * h * 3), out(in.size());
    for (size_t i = 0; i < in.size(); ++i) in[i] = (unsigned char)(i * 7);
    unsigned char *d_in, *d_out;
    cudaMalloc(&d_in, in.size());
    cudaMalloc(&d_out, out.size());
    cudaMemcpy(d_in, in.data(), in.size(), cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
    blur<<<grid, block>>>(d_in, d_out, w, h);
    cudaMemcpy(out.data(), d_out, out.size(), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w * 3; ++x) {
            int sum = 0, pixels = 0;
            for (int j = std::max(0, y - 1); j < std::min(h, y + 2); ++j) {
                for (int i = x - 3; i <= x + 3; i += 3) {
                    if (i >= 0 && i < w * 3) sum += in[j * w * 3 + i], ++pixels;
                }
            }
            if (out[y * w * 3 + x] != sum / pixels) return false;
        }
    }
    return true;
}

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0;
        for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
    }
}
__global__ void matmulInTiles(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int phase = 0; phase < (k + TILE - 1) / TILE; phase++) {
        int i = phase * TILE + tx, j = phase * TILE + ty;
        as[ty][tx] = row < m && i < k ? a[row * k + i] : 0;
        bs[ty][tx] = col < n && j < k ? b[j * n + col] : 0;
        __syncthreads();
        for (int t = 0; t < TILE; t++) sum += as[ty][t] * bs[t][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
static bool multiplies(void (*kernel)(const float*, const float*, float*, int, int, int)) {
    const int m = 33, n = 51, k = 27;
    std::vector<float> a(m * k), b(k * n), c(m * n);
    for (float& value : a) value = rand() % 10;
    for (float& value : b) value = rand() % 10;
    float *da, *db, *dc;
    cudaMalloc(&da, a.size() * sizeof(float));
    cudaMalloc(&db, b.size() * sizeof(float));
    cudaMalloc(&dc, c.size() * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
    kernel<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(da, db, dc, m,
                                                                                     n, k);
    cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    for (int row = 0; row < m; row++) {
        for (int col = 0; col < n; col++) {
            float sum = 0;
            for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
            if (c[row * n + col] != sum) return false;
        }
    }
    return true;
}
static bool matmulNaive() {
    return multiplies(matmul);
}
static bool matmulTiled() {
    return multiplies(matmulInTiles);
}

__global__ void matVecRows(const float* A, const float* x, float* y, int rows, int cols) {
    __shared__ float partial[64];
    float sum = 0;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) sum += A[blockIdx.x * cols + j] * x[j];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0 && blockIdx.x < rows) y[blockIdx.x] = partial[0];
}
static bool matVec() {
    const int rows = 50, cols = 111;
    std::vector<float> A(rows * cols), x(cols), y(rows);
    for (int i = 0; i < rows * cols; i++) A[i] = i % 5;
    for (int i = 0; i < cols; i++) x[i] = i % 3;
    float *dA, *dx, *dy;
    cudaMalloc(&dA, sizeof(float) * rows * cols);
    cudaMalloc(&dx, sizeof(float) * cols);
    cudaMalloc(&dy, sizeof(float) * rows);
    cudaMemcpy(dA, &A[0], sizeof(float) * rows * cols, cudaMemcpyHostToDevice);
    cudaMemcpy(dx, &x[0], sizeof(float) * cols, cudaMemcpyHostToDevice);
    matVecRows<<<rows, 64>>>(dA, dx, dy, rows, cols);
    cudaMemcpy(&y[0], dy, sizeof(float) * rows, cudaMemcpyDeviceToHost);
    cudaFree(dA);
    cudaFree(dx);
    cudaFree(dy);
    for (int i = 0; i < rows; i++) {
        if (y[i] != std::inner_product(x.begin(), x.end(), &A[i * cols], 0.0f)) return false;
    }
    return true;
}

__global__ void forces(const float4* bodies, float3* forces, int n) {
    extern __shared__ float4 near[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = bodies[i];
    float3 sum = make_float3(0, 0, 0);
    for (int tile = 0; tile < n / blockDim.x; tile++) {
        near[threadIdx.x] = bodies[tile * blockDim.x + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float dx = near[j].x - mine.x, dy = near[j].y - mine.y, dz = near[j].z - mine.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = near[j].w * inverse * inverse * inverse;
            sum.x += dx * s;
            sum.y += dy * s;
            sum.z += dz * s;
        }
        __syncthreads();
    }
    forces[i] = sum;
}
__global__ void moveBodies(float4* bodies, float4* velocities, const float3* forces, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    velocities[i].x += forces[i].x * dt;
    velocities[i].y += forces[i].y * dt;
    velocities[i].z += forces[i].z * dt;
    bodies[i].x += velocities[i].x * dt;
    bodies[i].y += velocities[i].y * dt;
    bodies[i].z += velocities[i].z * dt;
}
static bool nBody() {
    const int n = 128, threads = 32;
    std::vector<float4> bodies(n);
    for (float4& body : bodies) {
        body = make_float4(rand() % 100, rand() % 100, rand() % 100, 1);
    }
    float4 *d_bodies, *d_velocities;
    float3* d_forces;
    cudaMalloc(&d_bodies, n * sizeof(float4));
    cudaMalloc(&d_velocities, n * sizeof(float4));
    cudaMalloc(&d_forces, n * sizeof(float3));
    cudaMemcpy(d_bodies, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
    cudaMemset(d_velocities, 0, n * sizeof(float4));
    for (int step = 0; step < 3; step++) {
        forces<<<n / threads, threads, threads * sizeof(float4)>>>(d_bodies, d_forces, n);
        moveBodies<<<n / threads, threads>>>(d_bodies, d_velocities, d_forces, 0.1f);
    }
    std::vector<float4> velocities(n);
    cudaMemcpy(velocities.data(), d_velocities, n * sizeof(float4), cudaMemcpyDeviceToHost);
    cudaFree(d_bodies);
    cudaFree(d_velocities);
    cudaFree(d_forces);
    double momentum = 0, size = 0;
    for (const float4& v : velocities) momentum += v.x + v.y + v.z, size += fabs(v.x);
    return size > 0 && fabs(momentum) < 1e-4 * size;
}

// ---- reductions

__global__ void interleaved(const int* in, int* out, int n) {
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sdata[0];
}
__global__ void sequential(const int* in, int* out, int n) {
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    sdata[tid] = sum;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sdata[0];
}
template <unsigned int blockSize>
__global__ void lastWarp(const int* in, int* out, int n) {
    __shared__ int sdata[blockSize];
    unsigned int tid = threadIdx.x;
    int sum = 0;
    for (unsigned int i = blockIdx.x * blockSize + tid; i < n; i += blockSize * gridDim.x)
        sum += in[i];
    sdata[tid] = sum;
    __syncthreads();
    for (unsigned int s = blockSize / 2; s > 32; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        sum = sdata[tid] + sdata[tid + 32];
        __syncwarp();
        sdata[tid] = sum;
        __syncwarp();
        for (int s = 16; s > 0; s >>= 1) {
            if (tid < s) sdata[tid] += sdata[tid + s];
            __syncwarp();
        }
        if (tid == 0) out[blockIdx.x] = sdata[0];
    }
}
__device__ int warpSum(int value) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}
__global__ void shuffled(const int* in, int* out, int n) {
    __shared__ int ofWarps[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize, sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    sum = warpSum(sum);
    if (lane == 0) ofWarps[warp] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / warpSize ? ofWarps[lane] : 0;
    if (warp == 0) sum = warpSum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void groups(const int* in, int* out, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int i = block.group_index().x * block.group_dim().x + block.thread_rank();
    int sum = cg::reduce(tile, i < n ? in[i] : 0, cg::plus<int>());
    if (tile.thread_rank() == 0) atomicAdd(&out[blockIdx.x], sum);
}
static bool reduces(void (*kernel)(const int*, int*, int), int blocks, int threads, size_t shared) {
    const int n = 3000;
    std::vector<int> in(n), out(blocks);
    for (int i = 0; i < n; i++) in[i] = i % 101;
    int *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_out, blocks * sizeof(int));
    cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, blocks * sizeof(int));
    kernel<<<blocks, threads, shared>>>(d_in, d_out, n);
    cudaMemcpy(out.data(), d_out, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    int sum = 0, expected = 0;
    for (int part : out) sum += part;
    for (int value : in) expected += value;
    return sum == expected;
}
static bool reduceInterleaved() {
    return reduces(interleaved, 24, 128, 128 * sizeof(int));
}
static bool reduceSequential() {
    return reduces(sequential, 12, 128, 128 * sizeof(int));
}
static bool reduceLastWarp() {
    return reduces(lastWarp<256>, 4, 256, 0);
}
static bool reduceShuffle() {
    return reduces(shuffled, 4, 192, 0);
}
static bool reduceGroups() {
    return reduces(groups, 24, 128, 0);
}

__global__ void dot(const float* a, const float* b, float* result, int n) {
    __shared__ float cache[256];
    float temp = 0;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        temp += a[i] * b[i];
    cache[threadIdx.x] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0) atomicAdd(result, cache[0]);
}
static bool dotProduct() {  // of whole numbers, whose sum is the same in any order
    const int n = 4000;
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; i++) a[i] = i % 10, b[i] = i % 7;
    float *d_a, *d_b, *d_result, result = 0;
    cudaMalloc(&d_a, n * sizeof(float));
    cudaMalloc(&d_b, n * sizeof(float));
    cudaMalloc(&d_result, sizeof(float));
    cudaMemcpy(d_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_result, &result, sizeof(float), cudaMemcpyHostToDevice);
    dot<<<8, 256>>>(d_a, d_b, d_result, n);
    cudaMemcpy(&result, d_result, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_result);
    return result == std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
}

__global__ void integrate(float* sum, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = (i + 0.5f) / steps;
    if (i < steps) atomicAdd(sum, 4 / (1 + x * x) / steps);
}
static bool sumOfFractions() {
    const int steps = 1000;
    float *d_sum, sum;
    cudaMalloc(&d_sum, sizeof(float));
    cudaMemset(d_sum, 0, sizeof(float));
    integrate<<<(steps + 127) / 128, 128>>>(d_sum, steps);
    cudaMemcpy(&sum, d_sum, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_sum);
    return fabs(sum - 3.14159) < 1e-3;
}

__global__ void histogram(const unsigned char* text, int n, unsigned int* counts) {
    __shared__ unsigned int temp[256];
    temp[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&temp[text[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], temp[threadIdx.x]);
}
static bool histogramShared() {
    const int n = 10000;
    std::vector<unsigned char> text(n);
    for (unsigned char& c : text) c = (unsigned char)rand();
    unsigned char* d_text;
    unsigned int *d_counts, counts[256];
    cudaMalloc(&d_text, n);
    cudaMalloc(&d_counts, sizeof(counts));
    cudaMemset(d_counts, 0, sizeof(counts));
    cudaMemcpy(d_text, text.data(), n, cudaMemcpyHostToDevice);
    histogram<<<4, 256>>>(d_text, n, d_counts);
    cudaMemcpy(counts, d_counts, sizeof(counts), cudaMemcpyDeviceToHost);
    cudaFree(d_text);
    cudaFree(d_counts);
    for (unsigned char c : text) counts[c]--;
    return std::count(counts, counts + 256, 0) == 256;
}

// ---- scans and sorting

__global__ void hillisSteele(const int* in, int* out, int n) {
    extern __shared__ int temp[];
    int i = threadIdx.x, pout = 0, pin = 1;
    temp[i] = i < n ? in[i] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        temp[pout * n + i] = temp[pin * n + i] + (i >= offset ? temp[pin * n + i - offset] : 0);
        __syncthreads();
    }
    out[i] = temp[pout * n + i];
}
static bool scanHillisSteele() {
    const int n = 200;
    int in[n], out[n];
    for (int i = 0; i < n; i++) in[i] = i % 9 - 3;
    int *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    hillisSteele<<<1, n, 2 * n * sizeof(int)>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    std::partial_sum(in, in + n, in);
    return std::equal(in, in + n, out);
}

const int SECTION = 128;
__global__ void blelloch(const int* in, int* out, int* sums, int n) {
    __shared__ int temp[SECTION];
    int tid = threadIdx.x, begin = blockIdx.x * SECTION, offset = 1;
    temp[2 * tid] = begin + 2 * tid < n ? in[begin + 2 * tid] : 0;
    temp[2 * tid + 1] = begin + 2 * tid + 1 < n ? in[begin + 2 * tid + 1] : 0;
    for (int d = SECTION / 2; d > 0; d /= 2) {
        __syncthreads();
        if (tid < d) temp[offset * (2 * tid + 2) - 1] += temp[offset * (2 * tid + 1) - 1];
        offset *= 2;
    }
    if (tid == 0) {
        sums[blockIdx.x] = temp[SECTION - 1];
        temp[SECTION - 1] = 0;
    }
    for (int d = 1; d < SECTION; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (tid < d) {
            int left = offset * (2 * tid + 1) - 1, right = offset * (2 * tid + 2) - 1;
            int t = temp[left];
            temp[left] = temp[right];
            temp[right] += t;
        }
    }
    __syncthreads();
    if (begin + 2 * tid < n) out[begin + 2 * tid] = temp[2 * tid];
    if (begin + 2 * tid + 1 < n) out[begin + 2 * tid + 1] = temp[2 * tid + 1];
}
__global__ void addSums(int* out, const int* sums, int n) {
    int i = blockIdx.x * SECTION + threadIdx.x;
    if (i < n) out[i] += sums[blockIdx.x];
    i += blockDim.x;
    if (i < n) out[i] += sums[blockIdx.x];
}
static bool scanBlelloch() {
    const int n = 3001, blocks = (n + SECTION - 1) / SECTION;
    std::vector<int> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = i % 4;
    int *d_in, *d_out, *d_sums, *d_scanned, *d_total;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_out, n * sizeof(int));
    cudaMalloc(&d_sums, blocks * sizeof(int));
    cudaMalloc(&d_scanned, blocks * sizeof(int));
    cudaMalloc(&d_total, sizeof(int));
    cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    blelloch<<<blocks, SECTION / 2>>>(d_in, d_out, d_sums, n);
    blelloch<<<1, SECTION / 2>>>(d_sums, d_scanned, d_total, blocks);
    addSums<<<blocks, SECTION / 2>>>(d_out, d_scanned, n);
    int total;
    cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_sums);
    cudaFree(d_scanned);
    cudaFree(d_total);
    int sum = 0;
    for (int i = 0; i < n; sum += in[i++]) {
        if (out[i] != sum) return false;
    }
    return total == sum;
}

__global__ void bitonicStep(float* values, int j, int k) {
    unsigned int i = threadIdx.x + blockDim.x * blockIdx.x, ixj = i ^ j;
    if (ixj > i) {
        bool ascending = (i & k) == 0;
        if (ascending == (values[i] > values[ixj])) {
            float temp = values[i];
            values[i] = values[ixj];
            values[ixj] = temp;
        }
    }
}
static bool bitonicSort() {
    const int n = 1024;
    float *values = (float*)malloc(n * sizeof(float)), *dev_values;
    for (int i = 0; i < n; ++i) values[i] = rand() / (float)RAND_MAX;
    std::vector<float> expected(values, values + n);
    cudaMalloc((void**)&dev_values, n * sizeof(float));
    cudaMemcpy(dev_values, values, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int k = 2; k <= n; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) bitonicStep<<<n / 256, 256>>>(dev_values, j, k);
    }
    cudaMemcpy(values, dev_values, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(dev_values);
    std::sort(expected.begin(), expected.end());
    bool ok = std::equal(expected.begin(), expected.end(), values);
    free(values);
    return ok;
}

__global__ void oddEven(int* values, int n) {
    __shared__ int s[256];
    int i = threadIdx.x;
    if (i < n) s[i] = values[i];
    __syncthreads();
    for (int phase = 0; phase < n; phase++) {
        if (i % 2 == phase % 2 && i + 1 < n && s[i] > s[i + 1]) {
            int t = s[i];
            s[i] = s[i + 1];
            s[i + 1] = t;
        }
        __syncthreads();
    }
    if (i < n) values[i] = s[i];
}
static bool oddEvenSort() {
    const int n = 77;
    int values[n];
    for (int& value : values) value = rand() % 50;
    int* d_values;
    cudaMalloc(&d_values, sizeof(values));
    cudaMemcpy(d_values, values, sizeof(values), cudaMemcpyHostToDevice);
    oddEven<<<1, 256>>>(d_values, n);
    cudaMemcpy(values, d_values, sizeof(values), cudaMemcpyDeviceToHost);
    cudaFree(d_values);
    return std::is_sorted(values, values + n);
}

__global__ void radixStep(const unsigned* in, unsigned* out, int bit) {
    __shared__ int zerosBefore[257];
    int i = threadIdx.x, isZero = !(in[i] >> bit & 1);
    if (i == 0) zerosBefore[0] = 0;
    zerosBefore[i + 1] = isZero;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        int other = i >= offset ? zerosBefore[i + 1 - offset] : 0;
        __syncthreads();
        zerosBefore[i + 1] += other;
        __syncthreads();
    }
    int zeros = zerosBefore[blockDim.x];
    out[isZero ? zerosBefore[i] : zeros + i - zerosBefore[i]] = in[i];
}
static bool radixSort() {
    const int n = 256;
    std::vector<unsigned> values(n);
    for (unsigned& value : values) value = rand() & 0xff;
    unsigned *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(unsigned));
    cudaMalloc(&d_out, n * sizeof(unsigned));
    cudaMemcpy(d_in, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
    for (int bit = 0; bit < 8; bit++) {
        radixStep<<<1, n>>>(d_in, d_out, bit);
        std::swap(d_in, d_out);
    }
    std::vector<unsigned> sorted(n);
    cudaMemcpy(sorted.data(), d_in, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    std::sort(values.begin(), values.end());
    return sorted == values;
}

// ---- sparse matrices, graphs, grids

__global__ void spmv(int rows, const int* starts, const int* columns, const float* values,
                     const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int i = starts[row]; i < starts[row + 1]; i++) sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}
static bool spmvCsr() {
    const int rows = 300;
    std::vector<int> starts(1, 0), columns;
    std::vector<float> values, x(rows), y(rows), expected(rows, 0.0f);
    for (int row = 0; row < rows; row++) {
        x[row] = row % 8;
        for (int col = row % 7; col < rows; col += 11 + row % 5) {
            columns.push_back(col);
            values.push_back(1 + (row + col) % 3);
        }
        starts.push_back((int)columns.size());
    }
    int *d_starts, *d_columns;
    float *d_values, *d_x, *d_y;
    cudaMalloc(&d_starts, starts.size() * sizeof(int));
    cudaMalloc(&d_columns, columns.size() * sizeof(int));
    cudaMalloc(&d_values, values.size() * sizeof(float));
    cudaMalloc(&d_x, rows * sizeof(float));
    cudaMalloc(&d_y, rows * sizeof(float));
    cudaMemcpy(d_starts, starts.data(), starts.size() * sizeof(int), cudaMemcpyDefault);
    cudaMemcpy(d_columns, columns.data(), columns.size() * sizeof(int), cudaMemcpyDefault);
    cudaMemcpy(d_values, values.data(), values.size() * sizeof(float), cudaMemcpyDefault);
    cudaMemcpy(d_x, x.data(), rows * sizeof(float), cudaMemcpyDefault);
    spmv<<<(rows + 63) / 64, 64>>>(rows, d_starts, d_columns, d_values, d_x, d_y);
    cudaMemcpy(y.data(), d_y, rows * sizeof(float), cudaMemcpyDefault);
    cudaFree(d_starts);
    cudaFree(d_columns);
    cudaFree(d_values);
    cudaFree(d_x);
    cudaFree(d_y);
    for (int row = 0; row < rows; row++) {
        for (int i = starts[row]; i < starts[row + 1]; i++)
            expected[row] += values[i] * x[columns[i]];
    }
    return y == expected;
}

__global__ void visit(const int* starts, const int* edges, bool* frontier, bool* next,
                      const bool* visited, int* costs, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || !frontier[node]) return;
    frontier[node] = false;
    for (int i = starts[node]; i < starts[node + 1]; i++) {
        int neighbour = edges[i];
        if (!visited[neighbour]) {
            costs[neighbour] = costs[node] + 1;
            next[neighbour] = true;
        }
    }
}
__global__ void advance(bool* frontier, bool* next, bool* visited, bool* again, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < n && next[node]) {
        frontier[node] = true;
        visited[node] = true;
        *again = true;
        next[node] = false;
    }
}
static bool bfsLevels() {
    const int n = 500;
    std::vector<int> starts(1, 0), edges;
    for (int i = 0; i < n; i++) {
        edges.push_back((i + 1) % n);
        edges.push_back(i * 7 % n);
        if (i % 2) edges.push_back(i * 13 % n);
        starts.push_back((int)edges.size());
    }
    int *d_starts, *d_edges, *d_costs;
    bool *d_frontier, *d_next, *d_visited, *d_again, again, yes = true;
    cudaMalloc(&d_starts, (n + 1) * sizeof(int));
    cudaMalloc(&d_edges, edges.size() * sizeof(int));
    cudaMalloc(&d_costs, n * sizeof(int));
    cudaMalloc(&d_frontier, n);
    cudaMalloc(&d_next, n);
    cudaMalloc(&d_visited, n);
    cudaMalloc(&d_again, sizeof(bool));
    cudaMemcpy(d_starts, starts.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_costs, 0, n * sizeof(int));
    cudaMemset(d_frontier, 0, n);
    cudaMemset(d_next, 0, n);
    cudaMemset(d_visited, 0, n);
    cudaMemcpy(d_frontier, &yes, 1, cudaMemcpyHostToDevice);  // from node 0
    cudaMemcpy(d_visited, &yes, 1, cudaMemcpyHostToDevice);
    int blocks = (n + 127) / 128;
    do {
        again = false;
        cudaMemcpy(d_again, &again, sizeof(bool), cudaMemcpyHostToDevice);
        visit<<<blocks, 128>>>(d_starts, d_edges, d_frontier, d_next, d_visited, d_costs, n);
        advance<<<blocks, 128>>>(d_frontier, d_next, d_visited, d_again, n);
        cudaMemcpy(&again, d_again, sizeof(bool), cudaMemcpyDeviceToHost);
    } while (again);
    std::vector<int> costs(n), expected(n, -1), queue(1, 0);
    cudaMemcpy(costs.data(), d_costs, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (void* memory : {(void*)d_starts, (void*)d_edges, (void*)d_costs, (void*)d_frontier,
                         (void*)d_next, (void*)d_visited, (void*)d_again})
        cudaFree(memory);
    expected[0] = 0;
    for (size_t k = 0; k < queue.size(); k++) {
        for (int i = starts[queue[k]]; i < starts[queue[k] + 1]; i++) {
            if (expected[edges[i]] >= 0) continue;
            expected[edges[i]] = expected[queue[k]] + 1;
            queue.push_back(edges[i]);
        }
    }
    return costs == expected;
}

// The levels themselves say who was visited: whoever comes first claims a node.
__global__ void expand(const int* starts, const int* edges, int* levels, const int* queue,
                       int count, int* next, int* nextCount, int level) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (int k = starts[queue[i]]; k < starts[queue[i] + 1]; k++) {
        if (atomicCAS(&levels[edges[k]], -1, level) == -1) next[atomicAdd(nextCount, 1)] = edges[k];
    }
}
static bool bfsQueues() {
    const int n = 300;
    int *starts, *edges, *levels, *queue, *next, *nextCount;
    cudaMallocManaged(&starts, (n + 1) * sizeof(int));
    cudaMallocManaged(&edges, 2 * n * sizeof(int));
    cudaMallocManaged(&levels, n * sizeof(int));
    cudaMallocManaged(&queue, n * sizeof(int));
    cudaMallocManaged(&next, n * sizeof(int));
    cudaMallocManaged(&nextCount, sizeof(int));
    for (int i = 0; i < n; i++) {  // a binary tree with edges back
        starts[i] = 2 * i;
        edges[2 * i] = (2 * i + 1) % n;
        edges[2 * i + 1] = (2 * i + 2) % n;
        levels[i] = -1;
    }
    starts[n] = 2 * n;
    levels[0] = queue[0] = 0;
    int count = 1;
    for (int level = 1; count > 0; level++) {
        *nextCount = 0;
        expand<<<(count + 31) / 32, 32>>>(starts, edges, levels, queue, count, next, nextCount,
                                          level);
        cudaDeviceSynchronize();
        count = *nextCount;
        std::swap(queue, next);
    }
    bool ok = true;
    for (int i = 0; i < n; i++) ok = ok && levels[i] == (int)log2(i + 1);
    for (int* memory : {starts, edges, levels, queue, next, nextCount}) cudaFree(memory);
    return ok;
}

__global__ void relax(const float* old, float* now, int n, int* changed) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= n - 1 || y >= n - 1) return;
    int i = y * n + x;
    now[i] = 0.25f * (old[i - 1] + old[i + 1] + old[i - n] + old[i + n]);
    if (fabsf(now[i] - old[i]) > 0.01f) *changed = 1;
}
static bool jacobi() {
    const int n = 20;
    std::vector<float> grid(n * n, 0.0f);
    for (int x = 0; x < n; x++) grid[x] = 10;
    float *old, *now;
    int *d_changed, changed = 1, steps = 0;
    cudaMalloc(&old, n * n * sizeof(float));
    cudaMalloc(&now, n * n * sizeof(float));
    cudaMalloc(&d_changed, sizeof(int));
    cudaMemcpy(old, grid.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(now, old, n * n * sizeof(float), cudaMemcpyDeviceToDevice);
    while (changed && steps < 1000) {
        cudaMemset(d_changed, 0, sizeof(int));
        relax<<<dim3(2, 3), dim3(16, 8)>>>(old, now, n, d_changed);
        cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost);
        float* t = old;
        old = now;
        now = t;
        steps++;
    }
    cudaMemcpy(grid.data(), old, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(old);
    cudaFree(now);
    cudaFree(d_changed);
    for (int y = 1; y < n - 1; y++) {
        for (int x = 1; x < n - 1; x++) {
            float* p = &grid[y * n + x];
            if (fabs(*p - 0.25f * (p[-1] + p[1] + p[-n] + p[n])) > 0.02f) return false;
        }
    }
    return steps > 10 && steps < 1000;
}

__host__ __device__ int lives(const char* cells, int w, int h, int x, int y) {
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx || dy) alive += cells[(y + dy + h) % h * w + (x + dx + w) % w];
        }
    }
    return alive == 3 || (alive == 2 && cells[y * w + x]);
}
__global__ void generation(const char* now, char* next, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) next[y * w + x] = lives(now, w, h, x, y);
}
static bool gameOfLife() {
    const int w = 30, h = 21;
    std::vector<char> cells(w * h), next(w * h), result(w * h);
    for (char& cell : cells) cell = rand() % 3 == 0;
    char *d_cells, *d_next;
    cudaMalloc(&d_cells, w * h);
    cudaMalloc(&d_next, w * h);
    cudaMemcpy(d_cells, cells.data(), w * h, cudaMemcpyHostToDevice);
    for (int step = 0; step < 6; step++) {
        generation<<<dim3(4, 3), dim3(8, 8)>>>(d_cells, d_next, w, h);
        std::swap(d_cells, d_next);
        for (int i = 0; i < w * h; i++) next[i] = lives(cells.data(), w, h, i % w, i / w);
        cells.swap(next);
    }
    cudaMemcpy(result.data(), d_cells, w * h, cudaMemcpyDeviceToHost);
    cudaFree(d_cells);
    cudaFree(d_next);
    return result == cells;
}

// ---- others

__global__ void compact(const int* in, int n, int* out, int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) out[atomicAdd(count, 1)] = in[i];
}
static bool streamCompaction() {
    const int n = 2000;
    std::vector<int> in(n), expected;
    for (int& value : in) value = rand() % 100 - 50;
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](int v) { return v > 0; });
    int *d_in, *d_out, *d_count, count;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_out, n * sizeof(int));
    cudaMalloc(&d_count, sizeof(int));
    cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_count, 0, sizeof(int));
    compact<<<(n + 255) / 256, 256>>>(d_in, n, d_out, d_count);
    cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost);
    std::vector<int> out(count);
    cudaMemcpy(out.data(), d_out, count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_count);
    std::sort(out.begin(), out.end());
    std::sort(expected.begin(), expected.end());
    return out == expected;
}

__device__ float uniform(unsigned* state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0f;
}
__global__ void throwDarts(unsigned* states, int tries, unsigned long long* hits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = states[i];
    int mine = 0;
    for (int k = 0; k < tries; k++) {
        float x = uniform(&state), y = uniform(&state);
        mine += x * x + y * y < 1;
    }
    states[i] = state;
    atomicAdd(hits, (unsigned long long)mine);
}
static bool monteCarloPi() {
    const int threads = 512, tries = 200;
    unsigned states[threads], *d_states;
    unsigned long long hits = 0, *d_hits;
    for (int i = 0; i < threads; i++) states[i] = 1234567u * i + 1;
    cudaMalloc(&d_states, sizeof(states));
    cudaMalloc(&d_hits, sizeof(hits));
    cudaMemcpy(d_states, states, sizeof(states), cudaMemcpyHostToDevice);
    cudaMemcpy(d_hits, &hits, sizeof(hits), cudaMemcpyHostToDevice);
    throwDarts<<<threads / 128, 128>>>(d_states, tries, d_hits);
    cudaMemcpy(&hits, d_hits, sizeof(hits), cudaMemcpyDeviceToHost);
    cudaFree(d_states);
    cudaFree(d_hits);
    return fabs(4.0 * hits / (threads * tries) - 3.1416) < 0.05;
}

int main(int argc, char** argv) {
    return runProgram(argc, argv,
                      {{"vectorAdd", vectorAdd},
                       {"saxpyGridStride", saxpyGridStride},
                       {"saxpyManaged", saxpyManaged},
                       {"juliaSet", juliaSet},
                       {"binarySearch", binarySearch},
                       {"transposeTiled", transposeTiled},
                       {"stencilHalo", stencilHalo},
                       {"blurBorders", blurBorders},
                       {"matmulNaive", matmulNaive},
                       {"matmulTiled", matmulTiled},
                       {"matVec", matVec},
                       {"nBody", nBody},
                       {"reduceInterleaved", reduceInterleaved},
                       {"reduceSequential", reduceSequential},
                       {"reduceLastWarp", reduceLastWarp},
                       {"reduceShuffle", reduceShuffle},
                       {"reduceGroups", reduceGroups},
                       {"dotProduct", dotProduct},
                       {"sumOfFractions", sumOfFractions},
                       {"histogramShared", histogramShared},
                       {"scanHillisSteele", scanHillisSteele},
                       {"scanBlelloch", scanBlelloch},
                       {"bitonicSort", bitonicSort},
                       {"oddEvenSort", oddEvenSort},
                       {"radixSort", radixSort},
                       {"spmvCsr", spmvCsr},
                       {"bfsLevels", bfsLevels},
                       {"bfsQueues", bfsQueues},
                       {"jacobi", jacobi},
                       {"gameOfLife", gameOfLife},
                       {"streamCompaction", streamCompaction},
                       {"monteCarloPi", monteCarloPi}});
}
