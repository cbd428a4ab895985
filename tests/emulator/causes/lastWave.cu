// Tiles of an image, 14 times 20 blocks of 1,024 threads: 264 are resident at a time, and 16 are
// left over for a second wave.
//
// expect: tail effect

#include <cstdio>

__global__ void iterate(float* image, int width, int steps) {
    int place =
        (blockIdx.y * blockDim.y + threadIdx.y) * width + blockIdx.x * blockDim.x + threadIdx.x;
    float value = image[place];
    for (int k = 0; k < steps; ++k) value = value * 0.5f + 1.0f;
    image[place] = value;
}

int main() {
    const int width = 14 * 32, height = 20 * 32;
    float* image;
    cudaMallocManaged(&image, width * height * sizeof(float));
    for (int i = 0; i < width * height; ++i) image[i] = 2.0f;
    iterate<<<dim3(14, 20), dim3(32, 32)>>>(image, width, 6);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < width * height; ++i) right = right && image[i] == 2;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
