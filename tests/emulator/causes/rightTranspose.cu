// As it should be: a tile in shared memory, with a column more than it needs, so that rows are
// loaded and stored side by side and no two lanes of a column meet in a bank.
//
// expect: nothing

#include <cstdio>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, float* out, int width, int height) {
    __shared__ float tile[kTile][kTile + 1];
    int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
    for (int k = 0; k < kTile; k += kRows) {
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    }
    __syncthreads();
    x = blockIdx.y * kTile + threadIdx.x, y = blockIdx.x * kTile + threadIdx.y;
    for (int k = 0; k < kTile; k += kRows) {
        out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
    }
}

int main() {
    const int width = 12 * kTile, height = 22 * kTile;
    float *in, *out;
    cudaMallocManaged(&in, width * height * sizeof(float));
    cudaMallocManaged(&out, width * height * sizeof(float));
    for (int i = 0; i < width * height; ++i) in[i] = i;
    transpose<<<dim3(12, 22), dim3(kTile, kRows)>>>(in, out, width, height);
    cudaDeviceSynchronize();
    bool right = true;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) right = right && out[x * height + y] == in[y * width + x];
    }
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
