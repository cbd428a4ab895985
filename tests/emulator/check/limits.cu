// Kernels that exceed a limit of a GPU which has no hardware here, and others that do not. See
// test_limits.py.
#include <cstdio>
#include <cstdlib>
#include <string>

// ---- stack

// 256 bytes for each call, and somewhat more.
__device__ int withArray(int n) {
    volatile int pad[64];
    pad[n & 63] = n;
    return n <= 0 ? 0 : 1 + withArray(n - 1) + pad[0] * 0;  // array
}
__global__ void deep(int* out, int n) {
    out[threadIdx.x] = withArray(n);
}

// Two functions that call each other.
__device__ int odd(int n);
__device__ int even(int n) {
    return n == 0 ? 1 : odd(n - 1);  // even
}
__device__ int odd(int n) {
    return n == 0 ? 0 : even(n - 1);  // mutual
}
__global__ void mutual(int* out, int n) {
    *out = even(n);
}

// Few local variables.
__device__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void shallow(int* out, int n) {
    *out = fibonacci(n);
}

// Much stack, but no recursion: the compiler for a GPU knows how much.
__device__ int inner(int n) {
    volatile int pad[3000];
    pad[n] = n;
    return pad[n];
}
__device__ int middle(int n) {
    volatile int pad[3000];
    pad[n] = n;
    return inner(n) + inner(n + 1) + pad[n];
}
__global__ void largeFrames(int* out, int n) {
    *out = middle(n) + middle(n + 1);
}

// ---- printf

__global__ void print(int lines, const char* text) {
    for (int i = 0; i < lines; ++i) printf("%s\n", text);  // print
}
__global__ void printPlain(int lines) {
    for (int i = 0; i < lines; ++i)
        printf("a line without numbers, as long as the others\n");  // printPlain
}

__global__ void printLong(int lines, const char* text) {
    for (int i = 0; i < lines; ++i) printf("%s %s %s %s\n", text, text, text, text);
}

int main(int argc, char** argv) {
    const std::string what = argv[1];
    const int n = std::atoi(argv[2]);
    const int limit = argc > 3 ? std::atoi(argv[3]) : 0;
    int* out;
    char* text;
    cudaMalloc(&out, 4 * sizeof(int));
    const std::string line(63, 'x');
    cudaMalloc(&text, line.size() + 1);
    cudaMemcpy(text, line.c_str(), line.size() + 1, cudaMemcpyHostToDevice);
    const bool prints = what.rfind("print", 0) == 0;
    if (limit > 0) {
        cudaDeviceSetLimit(prints ? cudaLimitPrintfFifoSize : cudaLimitStackSize,
                           static_cast<size_t>(limit));
    }
    if (what == "deep") deep<<<1, 4>>>(out, n);
    if (what == "mutual") mutual<<<1, 1>>>(out, n);
    if (what == "shallow") shallow<<<1, 1>>>(out, n);
    if (what == "largeFrames") largeFrames<<<1, 1>>>(out, n);
    if (what == "print") print<<<4, 64>>>(n, text);
    if (what == "printPlain") printPlain<<<4, 64>>>(n);
    if (what == "printLong") printLong<<<4, 64>>>(n, text);
    if (what == "printTwice") {
        for (int i = 0; i < 2; ++i) print<<<4, 64>>>(n, text);
    }
    cudaDeviceSynchronize();
    cudaFree(text);
    cudaFree(out);
}
