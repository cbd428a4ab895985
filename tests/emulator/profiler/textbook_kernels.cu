// Kernels as students write them, to compare what the cpu profiler counts with what ncu reads from
// a -G build on an H200 (textbook_kernels.ncu.csv). Each is launched once, on small data.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

constexpr int kSize = 4096;
__constant__ float filter[25];

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void matmul(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

__global__ void matmulTiled(const float* a, const float* b, float* c, int n) {
    __shared__ float tileA[16][16];
    __shared__ float tileB[16][16];
    int row = blockIdx.y * 16 + threadIdx.y;
    int col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int tile = 0; tile < (n + 15) / 16; ++tile) {
        int x = tile * 16 + threadIdx.x;
        int y = tile * 16 + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < n && x < n ? a[row * n + x] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = col < n && y < n ? b[y * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

__global__ void histogram(const unsigned char* text, int n, unsigned* bins) {
    __shared__ unsigned local[32];
    if (threadIdx.x < 32) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[text[i] & 31], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void scanHillisSteele(const int* in, int* out) {
    __shared__ int data[2][128];
    int t = threadIdx.x, from = 0;
    data[0][t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int offset = 1; offset < 128; offset *= 2) {
        int value = data[from][t];
        if (t >= offset) value += data[from][t - offset];
        data[1 - from][t] = value;
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = data[from][t];
}

__global__ void scanBlelloch(int* data) {
    extern __shared__ int sums[];
    int t = threadIdx.x;
    sums[2 * t] = data[2 * t];
    sums[2 * t + 1] = data[2 * t + 1];
    int offset = 1;
    for (int d = blockDim.x; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) sums[offset * (2 * t + 2) - 1] += sums[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) sums[2 * blockDim.x - 1] = 0;
    for (int d = 1; d < 2 * (int)blockDim.x; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            int swap = sums[left];
            sums[left] = sums[right];
            sums[right] += swap;
        }
    }
    __syncthreads();
    data[2 * t] = sums[2 * t];
    data[2 * t + 1] = sums[2 * t + 1];
}

__global__ void stencil(const float* in, float* out, int n) {
    __shared__ float line[128 + 6];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = threadIdx.x + 3;
    line[s] = i < n ? in[i] : 0.0f;
    if (threadIdx.x < 3) {
        line[s - 3] = i >= 3 ? in[i - 3] : 0.0f;
        line[s + 128] = i + 128 < n ? in[i + 128] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int offset = -3; offset <= 3; ++offset) sum += line[s + offset];
    if (i < n) out[i] = sum;
}

__global__ void bitonicSort(int* values) {
    __shared__ int data[256];
    unsigned t = threadIdx.x;
    data[t] = values[blockIdx.x * 256 + t];
    for (unsigned size = 2; size <= 256; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned other = t ^ stride;
            if (other > t) {
                bool ascending = (t & size) == 0;
                if ((data[t] > data[other]) == ascending) {
                    int swap = data[t];
                    data[t] = data[other];
                    data[other] = swap;
                }
            }
        }
    }
    __syncthreads();
    values[blockIdx.x * 256 + t] = data[t];
}

__global__ void mandelbrot(unsigned char* image, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    // Fixed-point numbers with 12 bits behind the point: the same on every machine.
    int cr = 12288 * x / width - 8192, ci = 8192 * y / height - 4096;
    int zr = 0, zi = 0, steps = 0;
    while (zr * zr + zi * zi < 4 << 24 && steps < 40) {
        int next = ((zr * zr - zi * zi) >> 12) + cr;
        zi = (zr * zi >> 11) + ci;
        zr = next;
        ++steps;
    }
    image[y * width + x] = steps;
}

__global__ void nbody(const float4* bodies, float3* forces, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = bodies[i];
    float3 force = make_float3(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < n; ++j) {
        float4 other = bodies[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float distance = dx * dx + dy * dy + dz * dz + 0.01f;
        float scale = other.w / distance;
        force.x += dx * scale;
        force.y += dy * scale;
        force.z += dz * scale;
    }
    forces[i] = force;
}

__global__ void spmv(const int* rows, const int* cols, const float* values, const float* x,
                     float* y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float sum = 0.0f;
        for (int k = rows[row]; k < rows[row + 1]; ++k) sum += values[k] * x[cols[k]];
        y[row] = sum;
    }
}

__global__ void convolution(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) {
            int sx = x + dx, sy = y + dy;
            if (sx < 0 || sy < 0 || sx >= width || sy >= height) continue;
            sum += in[sy * width + sx] * filter[(dy + 2) * 5 + dx + 2];
        }
    }
    out[y * width + x] = sum;
}

__global__ void life(const unsigned char* now, unsigned char* then, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        int neighbours = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (dx != 0 || dy != 0)
                    neighbours +=
                        now[(y + dy + height) % height * width + (x + dx + width) % width];
        then[y * width + x] =
            neighbours == 3 || (neighbours == 2 && now[y * width + x] == 1) ? 1 : 0;
    }
}

__global__ void warpReduce(const int* in, int* out, int n) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if ((threadIdx.x & (warpSize - 1)) == 0) atomicAdd(out, sum);
}

__global__ void blockReduce(const float* in, float* out, int n) {
    __shared__ float partial[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float sum = 0.0f;
    if (i < n) sum = in[i];
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    partial[t] = sum;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * t;
        if (index < blockDim.x) partial[index] += partial[index + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

__global__ void transposeTile(const float* in, float* out, int width, int height) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

struct Particle {
    float position[3];
    int id;
    float velocity[3];
    char alive;
};

__global__ void arrayOfStructs(Particle* particles, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && particles[i].alive) {
        for (int k = 0; k < 3; ++k) particles[i].position[k] += dt * particles[i].velocity[k];
    }
}

__global__ void oddEvenPass(int* values, int n, int phase) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 < n && values[i] > values[i + 1]) {
        int swap = values[i];
        values[i] = values[i + 1];
        values[i + 1] = swap;
    }
}

__device__ int collatz(int n) {
    int steps = 0;
    while (n != 1) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        ++steps;
    }
    return steps;
}

__global__ void collatzSteps(int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) steps[i] = collatz(i + 1);
}

__global__ void binarySearch(const int* sorted, int n, const int* wanted, int* found, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < wanted[i]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    found[i] = low < n && sorted[low] == wanted[i] ? low : -1;
}

template <typename T>
__global__ void copyAs(const T* in, T* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

__global__ void compact(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && in[i] % 3 == 0;
    unsigned votes = __ballot_sync(0xffffffffu, keep);
    int lane = threadIdx.x % 32, base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

int main() {
    const size_t bytes = kSize * 16 * sizeof(float);
    void *a, *b, *c, *d;
    for (void** p : {&a, &b, &c, &d}) {
        if (cudaMalloc(p, bytes) != cudaSuccess) return 1;
        cudaMemset(*p, 0, bytes);
    }
    std::vector<float> floats(kSize);
    std::vector<int> ints(kSize), sorted(kSize), rows(1025), columns(kSize);
    std::vector<unsigned char> text(kSize), cells(kSize);
    unsigned random = 12345;
    for (int i = 0; i < kSize; ++i) {
        random = random * 1664525u + 1013904223u;
        floats[i] = (random >> 8) % 1000 / 100.0f;
        ints[i] = (random >> 10) % 5000;
        sorted[i] = 3 * i;
        text[i] = 'a' + (random >> 12) % 26;
        cells[i] = (random >> 14) % 3 == 0;
        columns[i] = (random >> 16) % 1024;
    }
    for (int i = 0; i < 1024; ++i) rows[i + 1] = rows[i] + ints[i] % 8;
    const auto give = [](void* to, const auto& from) {
        cudaMemcpy(to, from.data(), from.size() * sizeof(from[0]), cudaMemcpyHostToDevice);
    };
    float *fa = (float*)a, *fb = (float*)b, *fc = (float*)c, *fd = (float*)d;
    int *ia = (int*)a, *ib = (int*)b, *ic = (int*)c;
    auto *ta = (unsigned char*)a, *tb = (unsigned char*)b;
    cudaMemcpyToSymbol(filter, floats.data(), sizeof(filter));
    const dim3 square(16, 16);

    give(a, floats), give(b, floats);
    saxpy<<<8, 256>>>(2000, 2.0f, fa, fb);
    matmul<<<dim3(3, 3), square>>>(fa, fb, fc, 40);
    matmulTiled<<<dim3(3, 3), square>>>(fa, fb, fc, 40);
    stencil<<<8, 128>>>(fa, fb, 1000);
    mandelbrot<<<dim3(4, 3), dim3(16, 8)>>>((unsigned char*)c, 60, 22);
    nbody<<<2, 64>>>((float4*)a, (float3*)c, 100);
    convolution<<<dim3(3, 3), square>>>(fa, fb, 45, 40);
    blockReduce<<<4, 256>>>(fa, fb, 1900);
    transposeTile<<<dim3(2, 2), dim3(32, 8)>>>(fa, fb, 50, 60);

    give(a, text);
    histogram<<<4, 128>>>(ta, 3000, (unsigned*)b);
    give(a, cells);
    life<<<dim3(3, 4), square>>>(ta, tb, 40, 50);

    give(a, ints);
    scanHillisSteele<<<4, 128>>>(ia, ib);
    warpReduce<<<4, 128>>>(ia, ib, 3000);
    cudaMemset(c, 0, bytes);
    compact<<<8, 128>>>(ia, ib, ic, 1000);
    scanBlelloch<<<1, 128, 256 * sizeof(int)>>>(ia);
    give(a, ints);
    bitonicSort<<<2, 256>>>(ia);
    give(a, ints);
    oddEvenPass<<<8, 128>>>(ia, 2000, 0);
    oddEvenPass<<<8, 128>>>(ia, 2000, 1);
    collatzSteps<<<3, 128>>>(ib, 300);

    give(a, sorted), give(b, ints);
    binarySearch<<<8, 128>>>(ia, 1500, ib, ic, 1000);

    give(a, rows), give(b, columns), give(c, floats);
    spmv<<<8, 128>>>(ia, ib, fc, fc, fd, 1000);

    std::vector<Particle> particles(1000);
    for (int i = 0; i < 1000; ++i) particles[i] = {{1, 2, 3}, i, {4, 5, 6}, char(ints[i] % 2)};
    give(a, particles);
    arrayOfStructs<<<8, 128>>>((Particle*)a, 0.5f, 1000);

    copyAs<char><<<8, 128>>>((char*)a, (char*)b, 1000);
    copyAs<short><<<8, 128>>>((short*)a, (short*)b, 1000);
    copyAs<double><<<8, 128>>>((double*)a, (double*)b, 1000);
    copyAs<int4><<<8, 128>>>((int4*)a, (int4*)b, 1000);

    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
