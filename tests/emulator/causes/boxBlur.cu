// Each pixel is read by the 49 threads around it, straight from global memory.
//
// expect: missing tile, line 15

#include <cstdio>

constexpr int kRadius = 3;

__global__ void blur(const float* image, float* blurred, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < kRadius || y < kRadius || x >= width - kRadius || y >= height - kRadius) return;
    float sum = 0.0f;
    for (int dy = -kRadius; dy <= kRadius; ++dy) {
        const float* row = image + (y + dy) * width;
        for (int dx = -kRadius; dx <= kRadius; ++dx) sum += row[x + dx];
    }
    blurred[y * width + x] = sum;
}

int main() {
    const int width = 32 * 12, height = 8 * 11;
    float *image, *blurred;
    cudaMallocManaged(&image, width * height * sizeof(float));
    cudaMallocManaged(&blurred, width * height * sizeof(float));
    for (int i = 0; i < width * height; ++i) image[i] = 1.0f;
    blur<<<dim3(12, 11), dim3(32, 8)>>>(image, blurred, width, height);
    cudaDeviceSynchronize();
    bool right = true;
    for (int y = kRadius; y < height - kRadius; ++y) {
        for (int x = kRadius; x < width - kRadius; ++x) {
            right = right && blurred[y * width + x] == 49;
        }
    }
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
