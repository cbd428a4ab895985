// For test_textbook.py: right programs as textbooks and courses have them. These are longer or less
// usual algorithms, such as students write for their exercises.
#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "programs.cuh"

// ---- graphs and tables

// Several threads may reach a vertex at a time: they write the same level.
__global__ void nextLevel(const int* starts, const int* edges, int* levels, int* visitedSome,
                          int level, int n) {
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex < n && levels[vertex] == level - 1) {
        for (int i = starts[vertex]; i < starts[vertex + 1]; i++) {
            if (levels[edges[i]] == INT_MAX) {
                levels[edges[i]] = level;
                *visitedSome = 1;
            }
        }
    }
}
static bool bfsByLevels() {
    const int n = 300;
    std::vector<int> starts(n + 1), edges(2 * n), levels(n, INT_MAX);
    for (int i = 0; i < n; i++) {
        starts[i] = 2 * i;
        edges[2 * i] = std::min(n - 1, 2 * i + 1);
        edges[2 * i + 1] = std::min(n - 1, 2 * i + 2);
    }
    starts[n] = 2 * n;
    levels[0] = 0;
    int *d_starts, *d_edges, *d_levels, *d_some, some = 1;
    cudaMalloc(&d_starts, (n + 1) * sizeof(int));
    cudaMalloc(&d_edges, 2 * n * sizeof(int));
    cudaMalloc(&d_levels, n * sizeof(int));
    cudaMalloc(&d_some, sizeof(int));
    cudaMemcpy(d_starts, starts.data(), (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges.data(), 2 * n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_levels, levels.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    for (int level = 1; some != 0; level++) {
        some = 0;
        cudaMemcpy(d_some, &some, sizeof(int), cudaMemcpyHostToDevice);
        nextLevel<<<(n + 63) / 64, 64>>>(d_starts, d_edges, d_levels, d_some, level, n);
        cudaMemcpy(&some, d_some, sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(levels.data(), d_levels, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_starts);
    cudaFree(d_edges);
    cudaFree(d_levels);
    cudaFree(d_some);
    for (int i = 0; i < n - 1; i++) {
        if (levels[i] != (int)std::log2(i + 1)) return false;
    }
    return true;
}

// In place: row and column k do not change in step k.
__global__ void viaVertex(int* distances, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n) {
        int via = distances[i * n + k] + distances[k * n + j];
        if (via < distances[i * n + j]) distances[i * n + j] = via;
    }
}
__global__ void viaVertexAlways(int* distances, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n)
        distances[i * n + j] =
            min(distances[i * n + j], distances[i * n + k] + distances[k * n + j]);
}
static bool shortestPaths(void (*kernel)(int*, int, int)) {
    const int n = 25;
    std::vector<int> distances(n * n), result(n * n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) distances[i * n + j] = i == j ? 0 : (i * 7 + j * 13) % 40 + 1;
    }
    int* d_distances;
    cudaMalloc(&d_distances, n * n * sizeof(int));
    cudaMemcpy(d_distances, distances.data(), n * n * sizeof(int), cudaMemcpyHostToDevice);
    for (int k = 0; k < n; k++) {
        kernel<<<dim3(4, 4), dim3(8, 8)>>>(d_distances, n, k);
        for (int i = 0; i < n * n; i++) {
            int via = distances[i / n * n + k] + distances[k * n + i % n];
            distances[i] = std::min(distances[i], via);
        }
    }
    cudaMemcpy(result.data(), d_distances, n * n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_distances);
    return result == distances;
}
static bool floydWarshall() {
    return shortestPaths(viaVertex);
}
static bool floydWarshallByMinimum() {
    return shortestPaths(viaVertexAlways);
}

__global__ void relaxEdges(const int3* edges, int m, const int* old, int* now) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int3 edge = edges[i];
    if (old[edge.x] != INT_MAX) atomicMin(&now[edge.y], old[edge.x] + edge.z);
}
static bool bellmanFord() {
    const int n = 40, m = 4 * n;
    std::vector<int3> edges(m);
    for (int i = 0; i < m; i++) edges[i] = make_int3(i % n, (i * 11 + 3) % n, 1 + i % 6);
    std::vector<int> distances(n, INT_MAX), result(n);
    distances[0] = 0;
    int3* d_edges;
    int *d_old, *d_now;
    cudaMalloc(&d_edges, m * sizeof(int3));
    cudaMalloc(&d_old, n * sizeof(int));
    cudaMalloc(&d_now, n * sizeof(int));
    cudaMemcpy(d_edges, edges.data(), m * sizeof(int3), cudaMemcpyHostToDevice);
    cudaMemcpy(d_old, distances.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    for (int round = 1; round < n; round++) {
        cudaMemcpy(d_now, d_old, n * sizeof(int), cudaMemcpyDeviceToDevice);
        relaxEdges<<<(m + 31) / 32, 32>>>(d_edges, m, d_old, d_now);
        std::swap(d_old, d_now);
        for (const int3& edge : edges) {
            if (distances[edge.x] == INT_MAX) continue;
            distances[edge.y] = std::min(distances[edge.y], distances[edge.x] + edge.z);
        }
    }
    cudaMemcpy(result.data(), d_old, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_edges);
    cudaFree(d_old);
    cudaFree(d_now);
    return result == distances;
}

// One launch for each antidiagonal of the table.
__global__ void antidiagonal(const char* a, const char* b, int* table, int rows, int cols,
                             int sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = sum - i;
    if (i >= rows || j < 1 || j >= cols) return;
    int* cell = &table[i * cols + j];
    *cell = a[i - 1] == b[j - 1] ? cell[-cols - 1] + 1 : max(cell[-cols], cell[-1]);
}
// The same by one block.
__global__ void allAntidiagonals(const char* a, const char* b, int* table, int rows, int cols) {
    for (int sum = 2; sum < rows + cols - 1; sum++) {
        int i = threadIdx.x + 1, j = sum - i;
        if (i < rows && j >= 1 && j < cols) {
            int* cell = &table[i * cols + j];
            *cell = a[i - 1] == b[j - 1] ? cell[-cols - 1] + 1 : max(cell[-cols], cell[-1]);
        }
        __syncthreads();
    }
}
static bool longestCommonSubsequence() {
    const std::string a = "the quick brown fox jumps over it",
                      b = "that quiet brow of a jumping ox";
    const int rows = (int)a.size() + 1, cols = (int)b.size() + 1;
    char *d_a, *d_b;
    int* d_table;
    cudaMalloc(&d_a, a.size());
    cudaMalloc(&d_b, b.size());
    cudaMalloc(&d_table, rows * cols * sizeof(int));
    cudaMemcpy(d_a, a.c_str(), a.size(), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b.c_str(), b.size(), cudaMemcpyHostToDevice);
    int lengths[2];
    for (int way = 0; way < 2; way++) {
        cudaMemset(d_table, 0, rows * cols * sizeof(int));
        if (way == 0) {
            for (int sum = 2; sum < rows + cols - 1; sum++)
                antidiagonal<<<2, 32>>>(d_a, d_b, d_table, rows, cols, sum);
        } else {
            allAntidiagonals<<<1, 64>>>(d_a, d_b, d_table, rows, cols);
        }
        cudaMemcpy(&lengths[way], &d_table[rows * cols - 1], sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_table);
    std::vector<int> table(rows * cols, 0);
    for (int i = 1; i < rows; i++) {
        for (int j = 1; j < cols; j++) {
            int* cell = &table[i * cols + j];
            *cell = a[i - 1] == b[j - 1] ? cell[-cols - 1] + 1 : std::max(cell[-cols], cell[-1]);
        }
    }
    return lengths[0] == table.back() && lengths[1] == table.back();
}

// ---- numbers

__global__ void crossOut(bool* composite, int prime, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long multiple = (long long)prime * prime + (long long)i * prime;
    if (multiple <= n) composite[multiple] = true;
}
__global__ void crossOutOfAll(bool* composite, int n) {
    int factor = blockIdx.x * blockDim.x + threadIdx.x + 2;
    for (int k = 2 * factor; k <= n; k += factor) composite[k] = true;
}
__global__ void crossOutBits(unsigned* composite, int n) {
    int factor = blockIdx.x * blockDim.x + threadIdx.x + 2;
    for (int k = 2 * factor; k <= n; k += factor) atomicOr(&composite[k / 32], 1u << (k % 32));
}
static bool sieves() {
    const int n = 2000;
    bool *composite, found[n + 1], foundAtOnce[n + 1];
    unsigned *d_bits, bits[n / 32 + 1];
    cudaMalloc(&composite, n + 1);
    cudaMemset(composite, 0, n + 1);
    for (int p = 2; p * p <= n; p++) {
        bool out;
        cudaMemcpy(&out, composite + p, 1, cudaMemcpyDeviceToHost);
        if (!out) crossOut<<<(n / p + 255) / 256, 256>>>(composite, p, n);
    }
    cudaMemcpy(found, composite, n + 1, cudaMemcpyDeviceToHost);
    cudaMemset(composite, 0, n + 1);
    crossOutOfAll<<<8, 128>>>(composite, n);
    cudaMemcpy(foundAtOnce, composite, n + 1, cudaMemcpyDeviceToHost);
    cudaMalloc(&d_bits, sizeof(bits));
    cudaMemset(d_bits, 0, sizeof(bits));
    crossOutBits<<<8, 128>>>(d_bits, n);
    cudaMemcpy(bits, d_bits, sizeof(bits), cudaMemcpyDeviceToHost);
    cudaFree(composite);
    cudaFree(d_bits);
    int primes = 0;
    for (int i = 2; i <= n; i++) {
        if (found[i] != foundAtOnce[i] || found[i] != (bits[i / 32] >> (i % 32) & 1)) return false;
        primes += !found[i];
    }
    return primes == 303;
}

// Whoever finds it says so; the others may stop, or not.
__global__ void crack(unsigned wanted, unsigned* found, int perThread) {
    unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * perThread;
    for (unsigned i = first; i < first + perThread; i++) {
        if (i * 2654435761u == wanted) *found = i;
    }
}
static bool bruteForce() {
    unsigned *d_found, found = 0;
    cudaMalloc(&d_found, sizeof(unsigned));
    cudaMemset(d_found, 0, sizeof(unsigned));
    crack<<<4, 64>>>(2654435761u * 777, d_found, 10);
    cudaMemcpy(&found, d_found, sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaFree(d_found);
    return found == 777;
}
__global__ void crackUntilFound(unsigned wanted, volatile unsigned* found, int perThread) {
    unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * perThread;
    for (unsigned i = first; i < first + perThread && *found == 0; i++) {
        if (i * 2654435761u == wanted) *found = i;
    }
}
static bool bruteForceWithFlag() {
    unsigned *d_found, found = 0;
    cudaMalloc(&d_found, sizeof(unsigned));
    cudaMemset(d_found, 0, sizeof(unsigned));
    crackUntilFound<<<4, 64>>>(2654435761u * 777, d_found, 10);
    cudaMemcpy(&found, d_found, sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaFree(d_found);
    return found == 777;
}

struct Complex {
    float re, im;
    __host__ __device__ Complex(float re = 0, float im = 0) : re(re), im(im) {}
    __host__ __device__ Complex operator+(const Complex& o) const { return {re + o.re, im + o.im}; }
    __host__ __device__ Complex operator-(const Complex& o) const { return {re - o.re, im - o.im}; }
    __host__ __device__ Complex operator*(const Complex& o) const {
        return {re * o.re - im * o.im, re * o.im + im * o.re};
    }
};
__global__ void butterflies(Complex* data, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = i % half, low = i / half * half * 2 + k;
    float s, c;
    sincospif(-(float)k / half, &s, &c);
    Complex u = data[low], v = data[low + half] * Complex(c, s);
    data[low] = u + v;
    data[low + half] = u - v;
}
__global__ void bitReverse(const float* in, Complex* out, int bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[__brev(i) >> (32 - bits)] = Complex(in[i]);
}
static bool fft() {
    const int bits = 8, n = 1 << bits;
    std::vector<float> in(n);
    std::vector<Complex> out(n);
    for (int i = 0; i < n; i++) in[i] = i % 10;
    float* d_in;
    Complex* d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(Complex));
    cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    bitReverse<<<n / 64, 64>>>(d_in, d_out, bits);
    for (int half = 1; half < n; half *= 2) butterflies<<<n / 128, 64>>>(d_out, half);
    cudaMemcpy(out.data(), d_out, n * sizeof(Complex), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int k = 0; k < n; k += 5) {
        std::complex<double> sum = 0;
        for (int i = 0; i < n; i++) sum += (double)in[i] * std::polar(1.0, -2 * M_PI * i * k / n);
        if (std::abs(sum - std::complex<double>(out[k].re, out[k].im)) > 1e-2) return false;
    }
    return true;
}

__global__ void eliminate(double* a, int n, int pivot) {
    int row = blockIdx.y * blockDim.y + threadIdx.y + pivot + 1;
    int col = blockIdx.x * blockDim.x + threadIdx.x + pivot + 1;
    if (row < n && col <= n)
        a[row * (n + 1) + col] -=
            a[row * (n + 1) + pivot] / a[pivot * (n + 1) + pivot] * a[pivot * (n + 1) + col];
}
static bool gauss() {
    const int n = 20, size = n * (n + 1);
    double a[size], x[n], *d_a;
    for (int i = 0; i < n; i++) {
        a[i * (n + 1) + n] = 0;
        for (int j = 0; j < n; j++) {
            a[i * (n + 1) + j] = i == j ? 50 : (i * 3 + j) % 5;
            a[i * (n + 1) + n] += a[i * (n + 1) + j] * j;
        }
    }
    cudaMalloc(&d_a, sizeof(a));
    cudaMemcpy(d_a, a, sizeof(a), cudaMemcpyHostToDevice);
    for (int pivot = 0; pivot < n - 1; pivot++)
        eliminate<<<dim3(3, 3), dim3(8, 8)>>>(d_a, n, pivot);
    cudaMemcpy(a, d_a, sizeof(a), cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = n - 1; i >= 0; i--) {
        x[i] = a[i * (n + 1) + n];
        for (int j = i + 1; j < n; j++) x[i] -= a[i * (n + 1) + j] * x[j];
        x[i] /= a[i * (n + 1) + i];
        if (fabs(x[i] - i) > 1e-6) return false;
    }
    return true;
}

__global__ void halfSweep(float* u, int n, int colour) {
    int x = threadIdx.x + 1, y = blockIdx.x + 1;
    if ((x + y) % 2 == colour && x < n - 1) {
        float* p = &u[y * n + x];
        *p = (p[-1] + p[1] + p[-n] + p[n]) / 4;
    }
}
static bool redBlack() {
    const int n = 10;
    float u[n * n] = {}, *d_u;
    for (int i = 0; i < n; i++) u[i] = 8;
    cudaMalloc(&d_u, sizeof(u));
    cudaMemcpy(d_u, u, sizeof(u), cudaMemcpyHostToDevice);
    for (int step = 0; step < 200; step++) halfSweep<<<n - 2, 32>>>(d_u, n, step % 2);
    cudaMemcpy(u, d_u, sizeof(u), cudaMemcpyDeviceToHost);
    cudaFree(d_u);
    float* p = &u[5 * n + 5];
    return fabs(*p - (p[-1] + p[1] + p[-n] + p[n]) / 4) < 1e-3 && *p > 0.1;
}

__global__ void assign(const float2* points, int n, const float2* means, int k, int* owners,
                       int* counts, float2* sums) {
    extern __shared__ float2 s_means[];
    if (threadIdx.x < k) s_means[threadIdx.x] = means[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    float least = INFINITY;
    for (int m = 0; m < k; m++) {
        float dx = points[i].x - s_means[m].x, dy = points[i].y - s_means[m].y;
        if (dx * dx + dy * dy < least) least = dx * dx + dy * dy, best = m;
    }
    owners[i] = best;
    atomicAdd(&counts[best], 1);
    atomicAdd(&sums[best].x, points[i].x);
    atomicAdd(&sums[best].y, points[i].y);
}
__global__ void moveMeans(float2* means, const int* counts, const float2* sums) {
    int m = threadIdx.x;
    if (counts[m] > 0) means[m] = make_float2(sums[m].x / counts[m], sums[m].y / counts[m]);
}
static bool kMeans() {  // of whole coordinates
    const int n = 600, k = 3;
    std::vector<float2> points(n), means(k);
    for (int i = 0; i < n; i++)
        points[i] = make_float2(100 * (i % k) + i % 7, 50 * (i % k) + i % 5);
    for (int m = 0; m < k; m++) means[m] = points[m];
    float2 *d_points, *d_means, *d_sums;
    int *d_owners, *d_counts;
    cudaMalloc(&d_points, n * sizeof(float2));
    cudaMalloc(&d_means, k * sizeof(float2));
    cudaMalloc(&d_sums, k * sizeof(float2));
    cudaMalloc(&d_owners, n * sizeof(int));
    cudaMalloc(&d_counts, k * sizeof(int));
    cudaMemcpy(d_points, points.data(), n * sizeof(float2), cudaMemcpyHostToDevice);
    cudaMemcpy(d_means, means.data(), k * sizeof(float2), cudaMemcpyHostToDevice);
    for (int step = 0; step < 4; step++) {
        cudaMemset(d_counts, 0, k * sizeof(int));
        cudaMemset(d_sums, 0, k * sizeof(float2));
        assign<<<(n + 127) / 128, 128, k * sizeof(float2)>>>(d_points, n, d_means, k, d_owners,
                                                             d_counts, d_sums);
        moveMeans<<<1, k>>>(d_means, d_counts, d_sums);
    }
    std::vector<int> owners(n);
    cudaMemcpy(owners.data(), d_owners, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (void* memory :
         {(void*)d_points, (void*)d_means, (void*)d_sums, (void*)d_owners, (void*)d_counts})
        cudaFree(memory);
    for (int i = 0; i < n; i++) {
        if (owners[i] != i % k) return false;
    }
    return true;
}

// ---- pictures and text

__constant__ int kernel3x3[3][3];
__global__ void convolveTile(const int* in, int* out, int w, int h) {
    __shared__ int tile[18][18];
    int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
        int x = x0 + i % 18, y = y0 + i / 18;
        tile[i / 18][i % 18] = x >= 0 && x < w && y >= 0 && y < h ? in[y * w + x] : 0;
    }
    __syncthreads();
    int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) sum += kernel3x3[j][i] * tile[threadIdx.y + j][threadIdx.x + i];
    }
    out[y * w + x] = sum;
}
static bool edgeDetection() {
    const int w = 50, h = 35, sobel[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    std::vector<int> in(w * h), out(w * h);
    for (int i = 0; i < w * h; i++) in[i] = i * i % 23;
    int *d_in, *d_out;
    cudaMemcpyToSymbol(kernel3x3, sobel, sizeof(sobel));
    cudaMalloc(&d_in, w * h * sizeof(int));
    cudaMalloc(&d_out, w * h * sizeof(int));
    cudaMemcpy(d_in, in.data(), w * h * sizeof(int), cudaMemcpyHostToDevice);
    convolveTile<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(d_in, d_out, w, h);
    cudaMemcpy(out.data(), d_out, w * h * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int j = -1; j < 2; j++) {
                for (int i = -1; i < 2; i++) {
                    if (x + i >= 0 && x + i < w && y + j >= 0 && y + j < h)
                        sum += sobel[j + 1][i + 1] * in[(y + j) * w + x + i];
                }
            }
            if (out[y * w + x] != sum) return false;
        }
    }
    return true;
}

__global__ void grey(const uchar4* in, unsigned char* out, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    uchar4 p = in[i];
    out[i] = (unsigned char)((p.x * 77 + p.y * 151 + p.z * 28) >> 8);
}
__global__ void invert(uchar3* image, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    image[i].x = 255 - image[i].x;
    image[i].y = 255 - image[i].y;
    image[i].z = 255 - image[i].z;
}
static bool pixels() {
    const int n = 333;
    std::vector<uchar4> colours(n);
    std::vector<uchar3> triples(n);
    std::vector<unsigned char> greys(n);
    for (int i = 0; i < n; i++) {
        colours[i] = make_uchar4(i % 256, i * 3 % 256, i * 7 % 256, 255);
        triples[i] = make_uchar3(i % 256, 0, 255);
    }
    uchar4* d_colours;
    uchar3* d_triples;
    unsigned char* d_greys;
    cudaMalloc(&d_colours, n * sizeof(uchar4));
    cudaMalloc(&d_triples, n * sizeof(uchar3));
    cudaMalloc(&d_greys, n);
    cudaMemcpy(d_colours, colours.data(), n * sizeof(uchar4), cudaMemcpyHostToDevice);
    cudaMemcpy(d_triples, triples.data(), n * sizeof(uchar3), cudaMemcpyHostToDevice);
    grey<<<(n + 127) / 128, 128>>>(d_colours, d_greys, n);
    invert<<<(n + 127) / 128, 128>>>(d_triples, n);
    cudaMemcpy(greys.data(), d_greys, n, cudaMemcpyDeviceToHost);
    cudaMemcpy(triples.data(), d_triples, n * sizeof(uchar3), cudaMemcpyDeviceToHost);
    cudaFree(d_colours);
    cudaFree(d_triples);
    cudaFree(d_greys);
    for (int i = 0; i < n; i++) {
        uchar4 p = colours[i];
        if (greys[i] != (p.x * 77 + p.y * 151 + p.z * 28) >> 8) return false;
        if (triples[i].x != 255 - i % 256 || triples[i].y != 255 || triples[i].z != 0) return false;
    }
    return true;
}

__global__ void search(const char* text, int n, const char* word, int length, int* matches,
                       int* first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + length > n) return;
    for (int k = 0; k < length; k++) {
        if (text[i + k] != word[k]) return;
    }
    atomicAdd(matches, 1);
    atomicMin(first, i);
}
static bool textSearch() {
    std::string text, word = "abra";
    for (int i = 0; i < 30; i++) text += "cadabracabr";
    char *d_text, *d_word;
    int* result;
    cudaMalloc(&d_text, text.size() + 1);
    cudaMalloc(&d_word, word.size() + 1);
    cudaMallocManaged(&result, 2 * sizeof(int));
    cudaMemcpy(d_text, text.c_str(), text.size() + 1, cudaMemcpyHostToDevice);
    cudaMemcpy(d_word, word.c_str(), word.size() + 1, cudaMemcpyHostToDevice);
    result[0] = 0;
    result[1] = INT_MAX;
    search<<<((int)text.size() + 127) / 128, 128>>>(d_text, (int)text.size(), d_word,
                                                    (int)word.size(), &result[0], &result[1]);
    cudaDeviceSynchronize();
    int matches = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        matches++;
    bool ok = result[0] == matches && result[1] == (int)text.find(word);
    cudaFree(d_text);
    cudaFree(d_word);
    cudaFree(result);
    return ok;
}

__global__ void caesar(char* text, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && text[i] >= 'a' && text[i] <= 'z') text[i] = 'a' + (text[i] - 'a' + shift) % 26;
}
static bool cipher() {
    char text[] = "whatever a thread writes, its neighbours leave alone";
    const std::string before = text;
    char* d_text;
    cudaMalloc(&d_text, sizeof(text));
    cudaMemcpy(d_text, text, sizeof(text), cudaMemcpyHostToDevice);
    caesar<<<2, 32>>>(d_text, sizeof(text) - 1, 5);
    cudaMemcpy(text, d_text, sizeof(text), cudaMemcpyDeviceToHost);
    bool changed = text != before;
    caesar<<<2, 32>>>(d_text, sizeof(text) - 1, 21);
    cudaMemcpy(text, d_text, sizeof(text), cudaMemcpyDeviceToHost);
    cudaFree(d_text);
    return changed && text == before;
}

// ---- searching by trial

__device__ int queens(int n, int row, unsigned columns, unsigned left, unsigned right) {
    if (row == n) return 1;
    int count = 0;
    for (unsigned free = ~(columns | left | right) & ((1u << n) - 1); free; free &= free - 1) {
        unsigned bit = free & -free;
        count += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}
__global__ void placeQueens(int n, int* counts) {
    unsigned bit = 1u << threadIdx.x;
    counts[threadIdx.x] = queens(n, 1, bit, bit << 1, bit >> 1);
}
static bool eightQueens() {
    int counts[8], *d_counts;
    cudaMalloc(&d_counts, sizeof(counts));
    placeQueens<<<1, 8>>>(8, d_counts);
    cudaMemcpy(counts, d_counts, sizeof(counts), cudaMemcpyDeviceToHost);
    cudaFree(d_counts);
    return std::accumulate(counts, counts + 8, 0) == 92;
}

// ---- more of the host

// Copied into the kernel: the copy does not own the memory.
class Vector {
  public:
    explicit Vector(int n) : n(n), owns(true) { cudaMalloc(&data, n * sizeof(double)); }
    __host__ __device__ Vector(const Vector& other) : data(other.data), n(other.n), owns(false) {}
    ~Vector() {
        if (owns) cudaFree(data);
    }
    __device__ double& operator[](int i) { return data[i]; }
    __host__ __device__ int size() const { return n; }
    double* data;

  private:
    int n;
    bool owns;
};
__global__ void squaresInto(Vector v) {
    for (int i = threadIdx.x; i < v.size(); i += blockDim.x) v[i] = i * i;
}
static bool classesByValue() {
    Vector v(100);
    squaresInto<<<1, 32>>>(v);
    std::vector<double> host(v.size());
    cudaMemcpy(host.data(), v.data, v.size() * sizeof(double), cudaMemcpyDeviceToHost);
    return host[99] == 9801 && host[10] == 100;
}

__global__ void increment(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i]++;
}
// Asynchronous copies to and from memory that is not page-locked: the latter return when they are
// done.
static bool pageableMemory() {
    std::vector<int> host(1000, 6);
    int* device;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&device, 1000 * sizeof(int));
    cudaMemcpyAsync(device, host.data(), 1000 * sizeof(int), cudaMemcpyHostToDevice, stream);
    increment<<<4, 256, 0, stream>>>(device, 1000);
    cudaMemcpyAsync(host.data(), device, 1000 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    bool ok = std::count(host.begin(), host.end(), 7) == 1000;
    cudaStreamDestroy(stream);
    cudaFree(device);
    return ok;
}

static void workOfThread(int id, int* result) {
    std::vector<int> host(500, id);
    int* device;
    cudaStream_t stream;
    cudaSetDevice(0);
    cudaStreamCreate(&stream);
    cudaMalloc(&device, 500 * sizeof(int));
    cudaMemcpyAsync(device, host.data(), 500 * sizeof(int), cudaMemcpyHostToDevice, stream);
    for (int i = 0; i < 3; i++) increment<<<2, 256, 0, stream>>>(device, 500);
    cudaMemcpyAsync(host.data(), device, 500 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(device);
    *result = std::accumulate(host.begin(), host.end(), 0);
}
static bool hostThreads() {
    int results[4];
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; id++) threads.emplace_back(workOfThread, id, &results[id]);
    for (std::thread& thread : threads) thread.join();
    for (int id = 0; id < 4; id++) {
        if (results[id] != 500 * (id + 3)) return false;
    }
    return true;
}

__global__ void scaleVolume(cudaPitchedPtr volume, int w, int h, int d) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    char* slice = (char*)volume.ptr + z * volume.pitch * h;
    if (x < w && y < h && z < d) ((int*)(slice + y * volume.pitch))[x] *= 3;
}
static bool pitchedVolume() {
    const int w = 21, h = 5, d = 4;
    int host[d][h][w];
    for (int i = 0; i < w * h * d; i++) (&host[0][0][0])[i] = i;
    cudaExtent extent = make_cudaExtent(w * sizeof(int), h, d);
    cudaPitchedPtr volume;
    cudaMalloc3D(&volume, extent);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, w * sizeof(int), w, h);
    copy.dstPtr = volume;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    scaleVolume<<<dim3(h, d), 32>>>(volume, w, h, d);
    std::swap(copy.srcPtr, copy.dstPtr);
    copy.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&copy);
    cudaFree(volume.ptr);
    for (int i = 0; i < w * h * d; i++) {
        if ((&host[0][0][0])[i] != 3 * i) return false;
    }
    return true;
}

__global__ void addRows(int (*rows)[16], const int (*other)[16]) {
    rows[blockIdx.x][threadIdx.x] += other[blockIdx.x][threadIdx.x];
}
static bool pointersToArrays() {
    int a[10][16], b[10][16], (*d_a)[16], (*d_b)[16];
    for (int i = 0; i < 160; i++) a[i / 16][i % 16] = i, b[i / 16][i % 16] = 1000 - i;
    cudaMalloc((void**)&d_a, sizeof(a));
    cudaMalloc((void**)&d_b, sizeof(b));
    cudaMemcpy(d_a, a, sizeof(a), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, sizeof(b), cudaMemcpyHostToDevice);
    addRows<<<10, 16>>>(d_a, d_b);
    cudaMemcpy(a, d_a, sizeof(a), cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_b);
    return std::count(&a[0][0], &a[0][0] + 160, 1000) == 160;
}

// A block that is done early has threads that left before the barrier.
__global__ void leavesEarly(const int* in, int* out, int n) {
    __shared__ int s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[0] + s[threadIdx.x];
}
static bool threadsLeaveEarly() {
    const int n = 300;
    std::vector<int> in(n), out(n);
    std::iota(in.begin(), in.end(), 0);
    int *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_out, n * sizeof(int));
    cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    leavesEarly<<<3, 128>>>(d_in, d_out, n);
    cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < n; i++) {
        if (out[i] != i / 128 * 128 + i) return false;
    }
    return true;
}

// Memory of the device is taken once and is larger than what each round uses of it.
static bool reusedBuffer() {
    int *device, host[1000];
    cudaMalloc(&device, sizeof(host));
    for (int n = 100; n <= 1000; n += 300) {
        std::fill(host, host + n, n);
        cudaMemcpy(device, host, n * sizeof(int), cudaMemcpyHostToDevice);
        increment<<<4, 256>>>(device, n);
        cudaMemcpy(host, device, n * sizeof(int), cudaMemcpyDeviceToHost);
        if (std::count(host, host + n, n + 1) != n) return false;
    }
    cudaFree(device);
    return cudaDeviceReset() == cudaSuccess;
}

int main(int argc, char** argv) {
    return runProgram(argc, argv,
                      {{"bfsByLevels", bfsByLevels},
                       {"floydWarshall", floydWarshall},
                       {"floydWarshallByMinimum", floydWarshallByMinimum},
                       {"bellmanFord", bellmanFord},
                       {"longestCommonSubsequence", longestCommonSubsequence},
                       {"sieves", sieves},
                       {"bruteForce", bruteForce},
                       {"bruteForceWithFlag", bruteForceWithFlag},
                       {"fft", fft},
                       {"gauss", gauss},
                       {"redBlack", redBlack},
                       {"kMeans", kMeans},
                       {"edgeDetection", edgeDetection},
                       {"pixels", pixels},
                       {"textSearch", textSearch},
                       {"cipher", cipher},
                       {"eightQueens", eightQueens},
                       {"classesByValue", classesByValue},
                       {"pageableMemory", pageableMemory},
                       {"hostThreads", hostThreads},
                       {"pitchedVolume", pitchedVolume},
                       {"pointersToArrays", pointersToArrays},
                       {"threadsLeaveEarly", threadsLeaveEarly},
                       {"reusedBuffer", reusedBuffer}});
}
