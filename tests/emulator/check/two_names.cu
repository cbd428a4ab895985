// For test_two_names.py: two `extern __shared__` arrays of a kernel, which are one memory.
//
//   two_names CASE
#include <cstdio>
#include <functional>
#include <map>
#include <string>

constexpr int kThreads = 64;

// ---- values get lost

__global__ void lost(const int* in, int* out) {
    extern __shared__ int keys[];    // keys
    extern __shared__ int values[];  // values
    const int t = static_cast<int>(threadIdx.x);
    keys[t] = in[t];
    values[t] = 100 + t;  // lost-write
    __syncthreads();
    out[t] = keys[t];  // lost-read
}
__global__ void lostBehindBarrier(const int* in, int* out) {
    extern __shared__ int keys[];  // keys-of-weights
    extern __shared__ float weights[];
    const int t = static_cast<int>(threadIdx.x);
    keys[t] = in[t];
    __syncthreads();
    weights[t] = 0.5f;  // lost-weight
    __syncthreads();
    out[t] = keys[kThreads - 1 - t] + static_cast<int>(weights[t]);  // lost-key
}

// ---- right

__global__ void behindEachOther(const int* in, int* out) {
    extern __shared__ int keys[];
    int* const others = keys + kThreads;
    const int t = static_cast<int>(threadIdx.x);
    keys[t] = in[t];
    others[t] = 100 + t;
    __syncthreads();
    out[t] = keys[t] + others[kThreads - 1 - t];
}
__global__ void oneAfterTheOther(const int* in, int* out) {
    extern __shared__ int keys[];
    extern __shared__ int values[];
    const int t = static_cast<int>(threadIdx.x);
    keys[t] = in[t];
    __syncthreads();
    const int key = keys[kThreads - 1 - t];
    __syncthreads();
    values[t] = key;
    __syncthreads();
    out[t] = values[kThreads - 1 - t];
}
__global__ void asVectors(const int* in, int* out) {
    extern __shared__ int keys[];
    extern __shared__ int4 quads[];
    const int t = static_cast<int>(threadIdx.x);
    if (t < kThreads / 4) quads[t] = make_int4(0, 0, 0, 0);
    __syncthreads();
    keys[t] = in[t];
    __syncthreads();
    if (t < kThreads / 4) reinterpret_cast<int4*>(out)[t] = quads[t];
}
__global__ void inOtherHalves(const int* in, int* out) {
    extern __shared__ int keys[];
    extern __shared__ int values[];
    const int t = static_cast<int>(threadIdx.x);
    keys[t] = in[t];
    values[kThreads + t] = 100 + t;
    __syncthreads();
    out[t] = keys[kThreads - 1 - t] + values[kThreads + t];
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    int *in, *out;
    cudaMalloc(&in, kThreads * sizeof(int));
    cudaMalloc(&out, kThreads * sizeof(int));
    cudaMemset(in, 0, kThreads * sizeof(int));
    constexpr size_t kShared = 2 * kThreads * sizeof(int);
    const std::map<std::string, std::function<void()>> cases = {
        {"lost", [&] { lost<<<1, kThreads, kShared>>>(in, out); }},
        {"lostBehindBarrier", [&] { lostBehindBarrier<<<1, kThreads, kShared>>>(in, out); }},
        {"behindEachOther", [&] { behindEachOther<<<1, kThreads, kShared>>>(in, out); }},
        {"oneAfterTheOther", [&] { oneAfterTheOther<<<1, kThreads, kShared>>>(in, out); }},
        {"asVectors", [&] { asVectors<<<1, kThreads, kShared>>>(in, out); }},
        {"inOtherHalves", [&] { inOtherHalves<<<1, kThreads, kShared>>>(in, out); }},
    };
    cases.at(argv[1])();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
