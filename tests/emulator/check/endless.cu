// For test_endless.py: a kernel that never ends, one that takes a while, and one that is quick.
//
//   endless spins|waits|long|quick
#include <cstdio>
#include <string>

__global__ void spins(int* out) {
    if (blockIdx.x != 1 || threadIdx.x != 3) return;
    for (unsigned i = 10; i >= 0; --i) *out = i;  // spins
}
__global__ void waits(volatile int* flag) {
    while (*flag == 0) {  // waits
    }
}
__global__ void takesLong(int* out) {
    const long long begin = clock64();
    while (clock64() - begin < 6LL * 1980000000) {
    }
    *out = 1;
}
__global__ void quick(int* out) {
    *out = 1;
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    int* out;
    cudaMalloc(&out, sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    quick<<<1, 1>>>(out);
    cudaMemset(out, 0, sizeof(int));
    std::puts("begins");
    std::fflush(stdout);
    if (what == "spins") spins<<<2, 32>>>(out);
    if (what == "waits") waits<<<1, 32>>>(out);
    if (what == "long") takesLong<<<1, 1>>>(out);
    while (what == "quick") quick<<<1, 1>>>(out);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
