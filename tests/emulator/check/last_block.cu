// For test_last_block.py: kernels whose blocks are right, but for those from number `wrong` on.
// What the check remembers of one block must not hide what the next one on that OS thread does.
//
//   last_block alone|blocks|launches|right
//
// alone: the wrong block is the only one; blocks: others come before it; launches: kernels of right
// blocks come before it; right: no block is wrong.
#include <cstdio>
#include <string>

constexpr int kThreads = 64;
constexpr int kBlocks = 4;

__device__ bool isWrong(int wrong) {
    return (int)blockIdx.x >= wrong;
}
__device__ unsigned place() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void unwritten(int* out, int wrong) {
    __shared__ int s[kThreads];
    if (!isWrong(wrong)) s[threadIdx.x] = threadIdx.x;
    out[place()] = s[threadIdx.x];  // unwritten
}
__global__ void unwrittenDynamic(int* out, int wrong) {
    extern __shared__ int dynamic[];
    if (!isWrong(wrong)) dynamic[threadIdx.x] = threadIdx.x;
    out[place()] = dynamic[threadIdx.x];  // unwritten-dynamic
}
__global__ void noBarrier(int* out, int wrong) {
    __shared__ int s[kThreads];
    s[threadIdx.x] = threadIdx.x;  // no-barrier-write
    if (!isWrong(wrong)) __syncthreads();
    out[place()] = s[kThreads - 1 - threadIdx.x];  // no-barrier-read
}
__global__ void noBarrierOfTheWarp(int* out, int wrong) {
    __shared__ int s[kThreads];
    s[threadIdx.x] = threadIdx.x;  // no-syncwarp-write
    if (!isWrong(wrong)) __syncwarp();
    out[place()] = s[threadIdx.x ^ 1];  // no-syncwarp-read
}
__global__ void atomicBesidePlain(int* out, int wrong) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;  // beside-clear
    if (!isWrong(wrong)) __syncthreads();
    atomicAdd(&sum, 1);  // beside-add
    __syncthreads();
    out[place()] = sum;
}
__global__ void passesBy(int* out, int wrong) {
    if (!isWrong(wrong) || threadIdx.x < 32) __syncthreads();  // passed-by
    out[place()] = 1;
}
__global__ void sameElement(int* out, int wrong) {
    out[isWrong(wrong) ? blockIdx.x * blockDim.x : place()] = threadIdx.x;  // same-element
}
__global__ void beyondEnd(int* out, int wrong) {
    out[place() + (isWrong(wrong) ? 2 * kThreads * kBlocks : 0)] = 1;  // beyond-end
}

static void runAll(int blocks, int wrong) {
    constexpr size_t kBytes = kThreads * kBlocks * sizeof(int);
    int* out = nullptr;
    cudaMalloc(&out, kBytes);
    unwritten<<<blocks, kThreads>>>(out, wrong);
    unwrittenDynamic<<<blocks, kThreads, kThreads * sizeof(int)>>>(out, wrong);
    noBarrier<<<blocks, kThreads>>>(out, wrong);
    noBarrierOfTheWarp<<<blocks, kThreads>>>(out, wrong);
    atomicBesidePlain<<<blocks, kThreads>>>(out, wrong);
    passesBy<<<blocks, kThreads>>>(out, wrong);
    sameElement<<<blocks, kThreads>>>(out, wrong);
    beyondEnd<<<blocks, kThreads>>>(out, wrong);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
}

int main(int, char** argv) {
    const std::string what = argv[1];
    if (what == "right" || what == "launches") runAll(kBlocks, kBlocks);
    if (what == "blocks") runAll(kBlocks, kBlocks - 1);
    if (what == "alone" || what == "launches") runAll(1, 0);
}
