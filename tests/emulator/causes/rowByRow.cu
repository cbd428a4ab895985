// An image that the host has in rows of its own goes to the device row by row, and back pixel by
// pixel.
//
// expect: small copies, line 34

#include <cstdio>
#include <vector>

__global__ void invert(unsigned char* image, int pixels) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < pixels) {
        uchar4 four = *reinterpret_cast<uchar4*>(image + i);
        four = make_uchar4(255 - four.x, 255 - four.y, 255 - four.z, 255 - four.w);
        *reinterpret_cast<uchar4*>(image + i) = four;
    }
}

int main() {
    const int width = 1056, height = 64, pixels = width * height;
    std::vector<std::vector<unsigned char>> rows(height);
    for (int y = 0; y < height; ++y) rows[y].assign(width, static_cast<unsigned char>(y));
    unsigned char* image;
    cudaMalloc(&image, pixels);
    for (int y = 0; y < height; ++y) {
        cudaMemcpy(image + y * width, rows[y].data(), width, cudaMemcpyHostToDevice);
    }
    invert<<<132, 128>>>(image, pixels);
    bool right = true;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < 16; ++x) {
            unsigned char pixel = 0;
            const unsigned char* from = image + y * width + x;
            // one byte at a time
            cudaMemcpy(&pixel, from, 1, cudaMemcpyDeviceToHost);
            right = right && pixel == 255 - y;
        }
    }
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
