// For test_last_block.py: kernels whose blocks are right, but for those from number `wrong` on.
// What the check remembers of one block must not hide what the next one on that OS thread does.
//
//   last_block alone|blocks|launches|right
//
// alone: the wrong block is the only one; blocks: others come before it; launches: kernels of right
// blocks come before it; right: no block is wrong.
#include <cstdio>
#include <cstring>

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
__global__ void unwrittenBytes(int* out, int wrong) {
    __shared__ char s[kThreads];
    if (!isWrong(wrong) || threadIdx.x % 2 == 0) s[threadIdx.x] = 1;
    out[place()] = s[threadIdx.x];  // unwritten-byte
}
__global__ void binsNotCleared(int* out, int wrong) {
    __shared__ int bins[kThreads];
    if (!isWrong(wrong)) bins[threadIdx.x] = 0;
    atomicAdd(&bins[threadIdx.x], 1);  // bins-not-cleared
    out[place()] = bins[threadIdx.x];
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
__global__ void noSecondBarrier(int* out, int wrong) {
    __shared__ int s[kThreads];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[place()] = s[kThreads - 1 - threadIdx.x];  // no-second-read
    if (!isWrong(wrong)) __syncthreads();
    s[threadIdx.x] = 0;  // no-second-write
}
__global__ void atomicBesidePlain(int* out, int wrong) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;  // beside-clear
    if (!isWrong(wrong)) __syncthreads();
    atomicAdd(&sum, 1);  // beside-add
    __syncthreads();
    out[place()] = sum;
}
__global__ void noFence(int* out, int wrong) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        if (!isWrong(wrong)) __threadfence_block();
        sum += 1;  // no-fence
        if (!isWrong(wrong)) __threadfence_block();
        atomicExch(&lock, 0);
    }
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
__global__ void unwrittenGlobal(int* out, const int* in, int wrong) {
    out[place()] = in[place() + (isWrong(wrong) ? kThreads * kBlocks : 0)];  // unwritten-global
}
__global__ void beyondEnd(int* out, int wrong) {
    out[place() + (isWrong(wrong) ? 2 * kThreads * kBlocks : 0)] = 1;  // beyond-end
}

static void runAll(int blocks, int wrong) {
    constexpr size_t kBytes = kThreads * kBlocks * sizeof(int);
    int *out = nullptr, *in = nullptr;
    cudaMalloc(&out, kBytes);
    cudaMalloc(&in, 2 * kBytes);
    cudaMemset(in, 0, kBytes);  // half of it
    unwritten<<<blocks, kThreads>>>(out, wrong);
    unwrittenDynamic<<<blocks, kThreads, kThreads * sizeof(int)>>>(out, wrong);
    unwrittenBytes<<<blocks, kThreads>>>(out, wrong);
    binsNotCleared<<<blocks, kThreads>>>(out, wrong);
    noBarrier<<<blocks, kThreads>>>(out, wrong);
    noBarrierOfTheWarp<<<blocks, kThreads>>>(out, wrong);
    noSecondBarrier<<<blocks, kThreads>>>(out, wrong);
    atomicBesidePlain<<<blocks, kThreads>>>(out, wrong);
    noFence<<<blocks, kThreads>>>(out, wrong);
    passesBy<<<blocks, kThreads>>>(out, wrong);
    sameElement<<<blocks, kThreads>>>(out, wrong);
    unwrittenGlobal<<<blocks, kThreads>>>(out, in, wrong);
    beyondEnd<<<blocks, kThreads>>>(out, wrong);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
}

int main(int argc, char** argv) {
    const char* const what = argc == 2 ? argv[1] : "";
    if (std::strcmp(what, "alone") == 0) {
        runAll(1, 0);
    } else if (std::strcmp(what, "blocks") == 0) {
        runAll(kBlocks, kBlocks - 1);
    } else if (std::strcmp(what, "launches") == 0) {
        runAll(kBlocks, kBlocks);
        runAll(1, 0);
    } else if (std::strcmp(what, "right") == 0) {
        runAll(kBlocks, kBlocks);
    } else {
        return 2;
    }
}
