// A delay line of `length` samples, whose place is a remainder in each step of the loop.
//
// expect: integer divisions, line 11

#include <cstdio>

__global__ void echo(const int* in, int* out, int* ring, int length, int steps, int lanes) {
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
    if (lane >= lanes) return;
    for (int step = 0; step < steps; ++step) {
        int* place = &ring[step % length * lanes + lane];
        int sample = in[step * lanes + lane];
        out[step * lanes + lane] = sample + *place;
        *place = sample;
    }
}

int main() {
    const int lanes = 132 * 128, length = 5, steps = 16;
    int *in, *out, *ring;
    cudaMallocManaged(&in, steps * lanes * sizeof(int));
    cudaMallocManaged(&out, steps * lanes * sizeof(int));
    cudaMalloc(&ring, length * lanes * sizeof(int));
    cudaMemset(ring, 0, length * lanes * sizeof(int));
    for (int i = 0; i < steps * lanes; ++i) in[i] = i / lanes;
    echo<<<132, 128>>>(in, out, ring, length, steps, lanes);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < steps * lanes; ++i) {
        int step = i / lanes;
        right = right && out[i] == step + (step < length ? 0 : step - length);
    }
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
