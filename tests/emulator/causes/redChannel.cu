// Reads one member of each struct of 16 bytes: of each sector, a quarter.
//
// expect: array of structs, line 13

#include <cstdio>

struct Pixel {
    float red, green, blue, alpha;
};

__global__ void brighten(Pixel* pixels, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) pixels[i].red *= factor;
}

int main() {
    const int n = 132 * 512;
    Pixel* pixels;
    cudaMallocManaged(&pixels, n * sizeof(Pixel));
    for (int i = 0; i < n; ++i) pixels[i] = {1.0f * i, 2, 3, 4};
    brighten<<<132 * 2, 256>>>(pixels, 2.0f, n);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && pixels[i].red == 2.0f * i && pixels[i].alpha == 4;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
