// A product of matrices whose tiles are copied asynchronously: while one pair is used, the next one
// comes. At the border, zeros are filled in.
#include <cuda_pipeline.h>

#include <vector>

#include "expect.cuh"

constexpr int kTile = 16;

// One element of a tile, or zero beyond the border of the matrix.
__device__ void copyElement(float* to, const float* matrix, int row, int col, int rows, int cols) {
    const bool inside = row < rows && col < cols;
    __pipeline_memcpy_async(to, inside ? &matrix[row * cols + col] : matrix, sizeof(float),
                            inside ? 0 : sizeof(float));
}

template <int Stages>
__global__ void multiply(float* c, const float* a, const float* b, int m, int n, int k) {
    __shared__ float tileA[Stages][kTile][kTile], tileB[Stages][kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
    const int tiles = (k + kTile - 1) / kTile;
    const auto begin = [&](int tile) {
        const int stage = tile % Stages;
        if (tile < tiles) {
            copyElement(&tileA[stage][y][x], a, row, tile * kTile + x, m, k);
            copyElement(&tileB[stage][y][x], b, tile * kTile + y, col, k, n);
        }
        __pipeline_commit();  // also without copies, so that the groups can be counted
    };
    for (int tile = 0; tile < Stages - 1; ++tile) begin(tile);
    float sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        __pipeline_wait_prior(Stages - 2);
        __syncthreads();
        begin(tile + Stages - 1);
        for (int i = 0; i < kTile; ++i) {
            sum += tileA[tile % Stages][y][i] * tileB[tile % Stages][i][x];
        }
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

float* device(const std::vector<float>& values) {
    float* memory;
    CHECK(cudaMalloc(&memory, values.size() * sizeof(float)));
    CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(float), cudaMemcpyDefault));
    return memory;
}

template <int Stages>
void test(int m, int n, int k) {
    std::vector<float> a(m * k), b(k * n), c(m * n, -1);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5);
    float *deviceA = device(a), *deviceB = device(b), *deviceC = device(c);
    const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    multiply<Stages><<<grid, dim3(kTile, kTile)>>>(deviceC, deviceA, deviceB, m, n, k);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), deviceC, c.size() * sizeof(float), cudaMemcpyDefault));
    for (int row = 0; row < m; ++row) {
        for (int col = 0; col < n; ++col) {
            float sum = 0;
            for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
            EXPECT(c[row * n + col] == sum);
        }
    }
    for (float* memory : {deviceA, deviceB, deviceC}) CHECK(cudaFree(memory));
}

int main() {
    test<2>(1, 1, 1);
    test<2>(33, 17, 70);
    test<3>(33, 17, 70);
    test<4>(16, 64, 31);
}
