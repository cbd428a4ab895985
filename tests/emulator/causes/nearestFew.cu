// Each thread keeps the eight smallest distances in an array of its own, and puts a new one where
// it belongs. Registers have no index, so the array is in local memory.
//
// expect: local array, line 19

#include <cstdio>

constexpr int kKept = 8;

__global__ void smallest(const float* points, float* result, int n, int candidates) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best[kKept];
    int count = 0;
    for (int c = 0; c < candidates; ++c) {
        float distance = fabsf(points[i] - c);
        int place = count < kKept ? count++ : kKept - 1;
        while (place > 0 && best[place - 1] > distance) {
            best[place] = best[place - 1];
            --place;
        }
        best[place] = distance;
    }
    for (int k = 0; k < kKept; ++k) result[k * n + i] = best[k];
}

int main() {
    const int n = 132 * 128, candidates = 32;
    float *points, *result;
    cudaMallocManaged(&points, n * sizeof(float));
    cudaMallocManaged(&result, kKept * n * sizeof(float));
    for (int i = 0; i < n; ++i) points[i] = candidates - 1;
    smallest<<<132, 128>>>(points, result, n, candidates);
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && result[i] >= 0 && result[i] < kKept;
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
