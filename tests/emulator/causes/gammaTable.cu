// Each pixel looks up its own brightness in a table in constant memory, which reads one word at a
// time.
//
// expect: divergent constant reads, line 13

#include <cstdio>

__constant__ unsigned char gammaOf[256];

__global__ void correct(const unsigned char* image, unsigned char* corrected, int pixels) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
        unsigned char brightness = image[i];
        corrected[i] = gammaOf[brightness];
    }
}

int main() {
    const int pixels = 132 * 256 * 2;
    unsigned char table[256], *image, *corrected;
    for (int i = 0; i < 256; ++i) table[i] = static_cast<unsigned char>(255 - i);
    cudaMemcpyToSymbol(gammaOf, table, sizeof table);
    cudaMallocManaged(&image, pixels);
    cudaMallocManaged(&corrected, pixels);
    for (int i = 0; i < pixels; ++i) image[i] = static_cast<unsigned char>(i * 37 * 4);
    correct<<<132, 256>>>(image, corrected, pixels);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < pixels; ++i) right = right && corrected[i] == 255 - image[i];
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
