// A launch for each step of a simulation that has little to do in a step.
//
// expect: tiny launches, line 24

#include <cstdio>

__global__ void step(float* position, float* velocity, float dt, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        velocity[i] -= position[i] * dt;
        position[i] += velocity[i] * dt;
    }
}

int main() {
    const int n = 132 * 64, steps = 40;
    float *position, *velocity;
    cudaMalloc(&position, n * sizeof(float));
    cudaMalloc(&velocity, n * sizeof(float));
    cudaMemset(position, 0, n * sizeof(float));
    cudaMemset(velocity, 0, n * sizeof(float));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaDeviceSynchronize();
    for (int k = 0; k < steps; ++k) step<<<132, 64, 0, stream>>>(position, velocity, 0.01f, n);
    float last = 1;
    cudaMemcpyAsync(&last, position + n - 1, sizeof last, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    std::puts(last == 0 ? "right" : "WRONG");
    return last == 0 ? 0 : 1;
}
