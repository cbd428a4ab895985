// As it should be: as many blocks as fit, a loop over the grid, neighbouring lanes side by side.
//
// expect: nothing

#include <cstdio>

__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = a * x[i] + y[i];
}

int main() {
    const int n = 132 * 1024 + 77;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    for (int i = 0; i < n; ++i) x[i] = i, y[i] = 1;
    saxpy<<<2 * 132, 256>>>(n, 2.0f, x, y);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && y[i] == 2.0f * i + 1;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
