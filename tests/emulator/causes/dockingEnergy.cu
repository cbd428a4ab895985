// The constants of the energy are of type double, and with them most of the arithmetic.
//
// expect: double literals, line 12

#include <cstdio>

#define DEPTH 0.35
__device__ float energy(float r) {
    float s = 1.0f / (r * r);
    float s3 = s * s * s;
    float repulsion = s3 * s3;
    return 4.0 * DEPTH * (repulsion - s3);
}

__global__ void total(const float* distances, float* energies, int pairs, int atoms) {
    int atom = blockIdx.x * blockDim.x + threadIdx.x;
    if (atom >= atoms) return;
    float sum = 0.0f;
    for (int p = 0; p < pairs; ++p) sum += energy(distances[p * atoms + atom]);
    energies[atom] = sum;
}

int main() {
    const int atoms = 132 * 128, pairs = 16;
    float *distances, *energies;
    cudaMallocManaged(&distances, pairs * atoms * sizeof(float));
    cudaMallocManaged(&energies, atoms * sizeof(float));
    for (int i = 0; i < pairs * atoms; ++i) distances[i] = 1.0f;
    total<<<132, 128>>>(distances, energies, pairs, atoms);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < atoms; ++i) right = right && energies[i] == 0;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
