// Kernels that launch kernels: recursion, streams of a thread, tail launches, memory that a kernel
// allocates.
#include <algorithm>
#include <vector>

#include "expect.cuh"

__device__ int threadsAtDepth[8];
__global__ void halve(int threads, int depth) {
    atomicAdd(&threadsAtDepth[depth], 1);
    if (threads > 1 && threadIdx.x == 0) halve<<<1, threads / 2>>>(threads / 2, depth + 1);
}

__global__ void reduceNested(int* data, int* out, unsigned size) {
    int* const in = data + blockIdx.x * blockDim.x;
    if (size == 2 && threadIdx.x == 0) {
        out[blockIdx.x] = in[0] + in[1];
        return;
    }
    const unsigned half = size / 2;
    if (half > 1 && threadIdx.x < half) in[threadIdx.x] += in[threadIdx.x + half];
    __syncthreads();
    if (threadIdx.x == 0) reduceNested<<<1, half>>>(in, &out[blockIdx.x], half);
}

__global__ void quicksort(unsigned* data, int left, int right, int depth) {
    if (depth >= 16 || right - left <= 32) {
        for (int i = left + 1; i <= right; ++i) {
            const unsigned value = data[i];
            int j = i;
            for (; j > left && data[j - 1] > value; --j) data[j] = data[j - 1];
            data[j] = value;
        }
        return;
    }
    const unsigned pivot = data[(left + right) / 2];
    int low = left, high = right;
    while (low <= high) {
        while (data[low] < pivot) ++low;
        while (data[high] > pivot) --high;
        if (low <= high) {
            const unsigned t = data[low];
            data[low++] = data[high];
            data[high--] = t;
        }
    }
    const int ranges[2][2] = {{left, high}, {low, right}};
    for (const auto& range : ranges) {
        if (range[0] >= range[1]) continue;
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, range[0], range[1], depth + 1);
        cudaStreamDestroy(stream);
    }
}

__global__ void addOne(int* p) {
    p[threadIdx.x] += 1;
}
__global__ void timesTen(int* p) {
    p[threadIdx.x] *= 10;
}
__global__ void parent(int* p, int* errors) {
    p[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x != 0) return;
    timesTen<<<1, blockDim.x, 0, cudaStreamTailLaunch>>>(p);
    addOne<<<1, blockDim.x>>>(p);
    addOne<<<1, blockDim.x, 0, cudaStreamFireAndForget>>>(p + blockDim.x);
    errors[0] = cudaGetLastError();
    addOne<<<1, 2048>>>(p);
    errors[1] = cudaGetLastError();
}

struct Line {
    float2 from, to;
    float2* points;
    int count;
};
__global__ void subdivide(Line* line) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= line->count) return;
    const float t = i / (line->count - 1.f);
    line->points[i] = make_float2(line->from.x + t * (line->to.x - line->from.x),
                                  line->from.y + t * (line->to.y - line->from.y));
}
__global__ void subdivideAll(Line* lines, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    Line& line = lines[i];
    line.count = min(max(static_cast<int>(line.to.x), 4), 40);
    cudaMalloc((void**)&line.points, line.count * sizeof(float2));
    subdivide<<<static_cast<unsigned>(ceil(line.count / 32.0f)), 32>>>(&line);
}
__global__ void freeAll(Line* lines, float* lastX) {
    const Line& line = lines[threadIdx.x];
    lastX[threadIdx.x] = line.points[line.count - 1].x;
    cudaFree(line.points);
}

int main() {
    halve<<<2, 8>>>(8, 0);
    CHECK(cudaDeviceSynchronize());
    int counts[8];
    CHECK(cudaMemcpyFromSymbol(counts, threadsAtDepth, sizeof(counts)));
    EXPECT(counts[0] == 16 && counts[1] == 8 && counts[2] == 4 && counts[3] == 2 && counts[4] == 0);

    const int n = 4096, block = 64;
    int *data, *out, expected = 0, sum = 0;
    CHECK(cudaMallocManaged(&data, n * sizeof(int)));
    CHECK(cudaMallocManaged(&out, n / block * sizeof(int)));
    for (int i = 0; i < n; ++i) expected += data[i] = i % 19;
    reduceNested<<<n / block, block>>>(data, out, block);
    CHECK(cudaDeviceSynchronize());
    for (int b = 0; b < n / block; ++b) sum += out[b];
    EXPECT(sum == expected);

    auto* keys = reinterpret_cast<unsigned*>(data);
    for (int i = 0; i < n; ++i) keys[i] = i * 2654435761u >> 8;
    std::vector<unsigned> sorted(keys, keys + n);
    std::sort(sorted.begin(), sorted.end());
    quicksort<<<1, 1>>>(keys, 0, n - 1, 0);
    CHECK(cudaDeviceSynchronize());
    EXPECT(std::equal(sorted.begin(), sorted.end(), keys));

    std::fill_n(data, 128, 0);
    parent<<<1, 64>>>(data, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) EXPECT(data[i] == (i + 1) * 10 && data[64 + i] == 1);
    EXPECT(out[0] == cudaSuccess && out[1] == cudaErrorInvalidConfiguration);

    Line* lines;
    float* lastX;
    CHECK(cudaMallocManaged(&lines, 20 * sizeof(Line)));
    CHECK(cudaMallocManaged(&lastX, 20 * sizeof(float)));
    for (int i = 0; i < 20; ++i) lines[i] = {{0, 0}, {3.f * i, 1}, nullptr, 0};
    subdivideAll<<<1, 32>>>(lines, 20);
    freeAll<<<1, 20>>>(lines, lastX);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 20; ++i)
        EXPECT(lastX[i] == 3.f * i && lines[i].count == std::min(std::max(3 * i, 4), 40));
    return 0;
}
