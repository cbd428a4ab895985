// For test_float_sums.py: floats that several threads add up by atomics. Of each kernel's sum, the
// order of the additions changes the last digits, or it does not.
#include <cooperative_groups.h>

#include <cstdio>
#include <string>

__device__ int index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- the order matters

__global__ void threads(float* sum, const float* in) {
    atomicAdd(sum, in[index()]);  // threads
}
__global__ void doubles(double* sum) {
    if (threadIdx.x == 0) atomicAdd(sum, 1.0 / (3 + blockIdx.x));  // doubles
}
__global__ void shared(float* out, const float* in) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[index()]);  // shared
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void vectors(float2* sum, const float* in) {
    atomicAdd(sum, float2{in[index()], 1});  // vectors
}
__global__ void functions(float* sum, const float* in) {
    __nv_atomic_add(sum, in[index()], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);  // functions
}

// ---- it does not

__global__ void wholeNumbers(float* sum) {
    atomicAdd(sum, static_cast<float>(index()));
}
__global__ void halves(double* sum) {
    atomicAdd(sum, 0.5 * index());
}
__global__ void sameTerms(float* sum) {
    atomicAdd(sum, 0.1f);
}
__global__ void twoTerms(float* sum, const float* in) {  // a + b is b + a
    atomicAdd(sum, in[threadIdx.x]);
}
__global__ void oneThread(float* sum, const float* in) {
    if (index() == 0) {
        for (int i = 0; i < 100; ++i) atomicAdd(sum, in[i]);
    }
}
__global__ void elementsOfTheirOwn(float* sums, const float* in) {
    for (int i = 0; i < 5; ++i) atomicAdd(&sums[index()], in[index() / 2 + i]);
}
__global__ void betweenBarriers(float* out, const float* in) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) {
        __syncthreads();
        if (threadIdx.x == i) atomicAdd(&sum, in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void betweenSyncwarps(float* out, const float* in) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    for (unsigned i = 0; i < 32; ++i) {
        __syncwarp();
        if (threadIdx.x == i) atomicAdd(&sum, in[i]);
    }
    __syncwarp();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void betweenGridSyncs(float* sum, const float* in) {
    for (unsigned i = 0; i < gridDim.x; ++i) {
        if (blockIdx.x == i && threadIdx.x == 0) atomicAdd(sum, in[i]);
        cooperative_groups::this_grid().sync();
    }
}
__global__ void infinite(float* sum) {
    atomicAdd(sum, index() % 2 == 0 ? INFINITY : 1.0f / (1 + index()));
}
__global__ void inItsTurn(float* sum, const float* in, int i) {
    if (index() == i) atomicAdd(sum, in[i]);
}

int main(int argc, char** argv) {
    constexpr int kCount = 512;
    static float values[kCount];
    for (int i = 0; i < kCount; ++i) values[i] = 1.0f / (i + 3);
    float *in, *out;
    cudaMalloc(&in, sizeof(values));
    cudaMalloc(&out, sizeof(values));
    cudaMemcpy(in, values, sizeof(values), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(values));
    auto* const wide = reinterpret_cast<double*>(out);
    void* arguments[] = {&out, &in};
    const std::string name = argc > 1 ? argv[1] : "";
    if (name == "threads") threads<<<4, 128>>>(out, in);
    if (name == "doubles") doubles<<<40, 32>>>(wide);
    if (name == "shared") shared<<<4, 128>>>(out, in);
    if (name == "vectors") vectors<<<4, 128>>>(reinterpret_cast<float2*>(out), in);
    if (name == "functions") functions<<<4, 128>>>(out, in);
    if (name == "wholeNumbers") wholeNumbers<<<4, 128>>>(out);
    if (name == "halves") halves<<<4, 128>>>(wide);
    if (name == "sameTerms") sameTerms<<<4, 128>>>(out);
    if (name == "twoTerms") twoTerms<<<1, 2>>>(out, in);
    if (name == "oneThread") oneThread<<<4, 128>>>(out, in);
    if (name == "elementsOfTheirOwn") elementsOfTheirOwn<<<4, 64>>>(out, in);
    if (name == "betweenBarriers") betweenBarriers<<<2, 64>>>(out, in);
    if (name == "betweenSyncwarps") betweenSyncwarps<<<2, 32>>>(out, in);
    if (name == "betweenGridSyncs") {
        cudaLaunchCooperativeKernel(betweenGridSyncs, 16, 32, arguments);
    }
    if (name == "infinite") infinite<<<4, 128>>>(out);
    if (name == "inItsTurn") {
        for (int i = 0; i < 64; ++i) inItsTurn<<<1, 64>>>(out, in, i);
    }
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
