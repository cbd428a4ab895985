// As it should be: double precision where it is meant, several steps in one launch, and
// asynchronous copies of page-locked memory in two streams.
//
// expect: nothing

#include <cstdio>

__global__ void orbit(double* angle, double* speed, int n, int steps) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = angle[i], s = speed[i];
    for (int k = 0; k < steps; ++k) {
        s -= 0.01 * a;
        a += 0.01 * s;
    }
    angle[i] = a, speed[i] = s;
}

int main() {
    const int n = 132 * 128, parts = 2;
    double* host[parts];
    double *angle[parts], *speed[parts];
    cudaStream_t streams[parts];
    for (int p = 0; p < parts; ++p) {
        cudaMallocHost(&host[p], n * sizeof(double));
        cudaMalloc(&angle[p], n * sizeof(double));
        cudaMalloc(&speed[p], n * sizeof(double));
        cudaStreamCreate(&streams[p]);
        for (int i = 0; i < n; ++i) host[p][i] = i == p ? 0.0 : 1.0;
    }
    for (int p = 0; p < parts; ++p) {
        cudaMemcpyAsync(angle[p], host[p], n * sizeof(double), cudaMemcpyHostToDevice, streams[p]);
        cudaMemsetAsync(speed[p], 0, n * sizeof(double), streams[p]);
        orbit<<<132, 128, 0, streams[p]>>>(angle[p], speed[p], n, 16);
        cudaMemcpyAsync(host[p], angle[p], n * sizeof(double), cudaMemcpyDeviceToHost, streams[p]);
    }
    cudaDeviceSynchronize();
    bool right = true;
    for (int p = 0; p < parts; ++p) {
        for (int i = 0; i < n; ++i) {
            right = right && (i == p ? host[p][i] == 0 : host[p][i] > 0.98 && host[p][i] < 1);
        }
    }
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
