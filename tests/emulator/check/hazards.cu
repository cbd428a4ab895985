// Kernels with one hazard each, and without: test_check.py runs each of them alone, and finds the
// lines by the marks in the comments.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

__device__ int counter;

// ---- races in shared memory

__global__ void readAfterWrite(int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;            // raw-write
    out[threadIdx.x] = tile[63 - threadIdx.x];  // raw-read
}

__global__ void writeAfterRead(int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const int other = tile[63 - threadIdx.x];  // war-read
    tile[threadIdx.x] = other + 1;             // war-write
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void writeAfterWrite(int* out) {
    __shared__ int last;
    last = threadIdx.x;  // waw
    __syncthreads();
    if (threadIdx.x == 0) out[0] = last;
}

__global__ void sameValue(int* out) {
    __shared__ int found;
    if (threadIdx.x % 2 == 0) found = 1;
    __syncthreads();
    out[threadIdx.x] = found;
}

__global__ void rowOfTile(const float* in, float* out) {
    __shared__ float tile[8][9];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 8 + threadIdx.x];   // tile-write
    out[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // tile-read
}

__global__ void vectors(float4* out) {
    extern __shared__ float4 quads[];
    const float4 mine = make_float4(threadIdx.x, 1, 2, 3);
    quads[threadIdx.x] = mine;                                 // quads-write
    out[threadIdx.x] = quads[(threadIdx.x + 1) % blockDim.x];  // quads-read
}

__global__ void bytesOfOneWord(char* out) {
    __shared__ char text[64];
    text[threadIdx.x] = 'a' + threadIdx.x % 26;  // neighbours in one word: no race
    out[threadIdx.x] = text[threadIdx.x];
}

// ---- within a warp

__global__ void syncedWarp(int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    for (int k = 16; k > 0; k /= 2) {
        const int other = threadIdx.x < k ? s[threadIdx.x + k] : 0;
        __syncwarp();
        s[threadIdx.x] += other;
        __syncwarp();
    }
    out[threadIdx.x] = s[0];
}

__global__ void syncedTile(int* out) {
    __shared__ int s[32];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x;
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 15];
}

__global__ void wrongTile(int* out) {
    __shared__ int s[32];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x;  // wrong-tile-write
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 31];  // wrong-tile-read
}

__global__ void partners(int* out, unsigned distance) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;                  // partner-write
    out[threadIdx.x] = s[threadIdx.x ^ distance];  // partner-read
}

__global__ void shuffleDoesNotOrder(int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;  // shuffle-write
    const int sum = __shfl_xor_sync(0xffffffff, 1, 1);
    out[threadIdx.x] = sum + s[threadIdx.x ^ 1];  // shuffle-read
}

__global__ void volatileWarp(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = s[threadIdx.x + 32] = 1;
    __syncthreads();
    volatile int* v = s;
    v[threadIdx.x] += v[threadIdx.x + 16];  // volatile
    out[threadIdx.x] = v[threadIdx.x];
}

__global__ void volatileFlag(int* out) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    volatile int* v = &flag;
    if (threadIdx.x == 40) *v = 1;
    if (threadIdx.x == 0) {
        while (*v == 0) {
        }
        out[0] = atomicAdd(&flag, 1);
    }
}

__global__ void volatileAndPlain(int* out) {
    __shared__ int s[32];
    static_cast<volatile int*>(s)[threadIdx.x] = threadIdx.x;  // volatile-write
    out[threadIdx.x] = s[threadIdx.x ^ 1];                     // plain-read
}

// ---- atomics

__global__ void histogram(int* out) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 4], 1);
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void histogramNotCleared(int* out) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;  // clear
    atomicAdd(&bins[threadIdx.x % 4], 1);        // count
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}

// ---- out of bounds

__global__ void beyondEnd(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;  // beyond
}
__global__ void farAway(const int* in, int* out, int n) {
    out[threadIdx.x] = in[n + threadIdx.x];  // far
}
__global__ void straddles(float4* out) {
    const float4 zeros = make_float4(0, 0, 0, 0);
    if (threadIdx.x < 2) out[threadIdx.x] = zeros;  // straddle
}
__global__ void fromHost(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x];  // host
}
__global__ void atomicOnHost(int* sum) {
    atomicAdd(sum, 1);  // host-atomic
}
__global__ void nullPointer(int* out) {
    out[threadIdx.x] = 1;  // null
}
__global__ void freed(int* out) {
    out[threadIdx.x] = 1;  // freed
}
__global__ void beyondDynamic(int* out) {
    extern __shared__ int s[];
    s[threadIdx.x] = 1;  // beyond-dynamic
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
// ---- uninitialised

__device__ int sumOfFirst(int count) {
    __shared__ int sums[32];
    if (threadIdx.x < 16) sums[threadIdx.x] = 1;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += sums[i];  // uninitialised-in-function
    return sum;
}
__global__ void uninitialisedInFunction(int* out) {
    out[threadIdx.x] = sumOfFirst(17);
}

// ---- barriers

__global__ void barrierInIf(int* out) {
    if (threadIdx.x < 16) __syncthreads();  // in-if
    out[threadIdx.x] = 1;
}
__global__ void barriersOfIfAndElse(int* out) {
    if (threadIdx.x < 16) {
        out[threadIdx.x] = 1;
        __syncthreads();  // of-if
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();  // of-else
    }
}
// clang-format off
__global__ void barriersOnOneLine(int* out) {
    if (threadIdx.x < 16) { __syncthreads(); } else { __syncthreads(); }  // one-line
    out[threadIdx.x] = 1;
}
// clang-format on
__global__ void earlyReturn(int* out) {
    if (threadIdx.x >= 20) return;
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
}
__global__ void returnFromEndlessLoop(int* out) {
    for (int i = 0;; ++i) {
        if (i > threadIdx.x % 3) return;
        __syncthreads();
        out[threadIdx.x] = i;
    }
}
struct Guard {
    __device__ explicit Guard(int* place) : place(place) {}
    __device__ ~Guard() { *place = 1; }
    int* place;
};
__global__ void returnWithDestructor(int* out) {
    Guard guard(out + threadIdx.x);
    if (threadIdx.x >= 16) return;
    __syncthreads();
    out[threadIdx.x] = 2;
}
__global__ void passedWithDestructor(int* out) {
    Guard guard(out + threadIdx.x);
    if (threadIdx.x < 16) __syncthreads();  // passed-with-destructor
    if (threadIdx.x >= 16) return;
    out[threadIdx.x] = 2;
}
__global__ void returnAfterPassing(int* out) {
    if (threadIdx.x < 16) __syncthreads();  // passed
    if (threadIdx.x >= 16) return;
    out[threadIdx.x] = 1;
}
__device__ void helper(int* out, bool take) {
    if (!take) return;
    __syncthreads();  // in-helper
    *out = 1;
}
__global__ void returnOfHelper(int* out) {
    helper(out + threadIdx.x, threadIdx.x < 16);
}
__global__ void returnBeforeHelper(int* out) {
    if (threadIdx.x >= 16) return;
    helper(out + threadIdx.x, true);
}
__global__ void tripCounts(int* out) {
    for (int i = 0; i < 1 + threadIdx.x % 2; ++i) {
        __syncthreads();  // trips
        out[threadIdx.x] = i;
    }
}
__global__ void tripCountsAndMore(int* out) {
    for (int i = 0; i < 1 + threadIdx.x % 2; ++i) {
        __syncthreads();  // trips-first
        out[threadIdx.x] = i;
    }
    __syncthreads();  // trips-second
    out[threadIdx.x] += 1;
}

__global__ void cooperative(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    cg::this_grid().sync();
    out[threadIdx.x] = s[63 - threadIdx.x];  // grid-read
    s[threadIdx.x] = 0;                      // grid-write
    cg::this_grid().sync();
}

// ---- what is right

__global__ void child(int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void parent(int* out) {
    if (threadIdx.x == 0) child<<<1, 32>>>(out);
}
__global__ void usesCounter(int* out) {
    __shared__ struct {
        int a;
        double b;
    } pair;
    if (threadIdx.x == 0) {
        pair = {counter, 2.0};
        atomicAdd(&counter, 1);
    }
    __syncthreads();
    auto copy = pair;
    out[threadIdx.x] = copy.a + static_cast<int>(copy.b);
}

// ---- shuffles

__global__ void shuffleFromEnded(int* out) {
    if (threadIdx.x >= 20) return;
    out[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1, 2);  // from-ended
}
__global__ void shuffleOutsideMask(int* out) {
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, 1, 16);  // outside-mask
    }
}
__global__ void shuffleWithinMask(int* out) {
    if (threadIdx.x >= 16) return;
    out[threadIdx.x] = __shfl_down_sync(0x0000ffffu, 1, 1, 16) + __shfl_sync(0xffffffffu, 2, 15);
    cg::coalesced_group group = cg::coalesced_threads();
    out[threadIdx.x] += group.shfl_down(1, 4) + group.shfl(1, 3);
}

#define NAMED(kernel) {#kernel, kernel}
using Kernels = std::map<std::string, void (*)(int*)>;
// clang-format off
const Kernels kOf32Threads = {
    NAMED(syncedWarp), NAMED(syncedTile), NAMED(wrongTile), NAMED(shuffleDoesNotOrder),
    NAMED(volatileWarp), NAMED(volatileAndPlain), NAMED(uninitialisedInFunction),
    NAMED(barrierInIf), 
    NAMED(barriersOfIfAndElse), NAMED(earlyReturn), 
    NAMED(returnFromEndlessLoop), NAMED(returnWithDestructor), NAMED(passedWithDestructor),
    NAMED(returnAfterPassing), NAMED(returnOfHelper), NAMED(returnBeforeHelper), NAMED(tripCounts),
    NAMED(tripCountsAndMore), NAMED(shuffleOutsideMask), NAMED(shuffleWithinMask), NAMED(parent),
    NAMED(usesCounter),
};
const Kernels kOf64Threads = {
    NAMED(readAfterWrite), NAMED(writeAfterRead), NAMED(writeAfterWrite),
    NAMED(sameValue), NAMED(volatileFlag), NAMED(histogram),
    NAMED(histogramNotCleared), NAMED(shuffleFromEnded),
};
// clang-format on

int main(int, char** argv) {
    const std::string name = argv[1];
    int *out, *other;
    cudaMalloc(&out, 4096);
    cudaMalloc(&other, 400);  // 100 ints
    std::vector<int> host(256, 1);
    for (const auto& [of, kernel] : kOf32Threads) {
        if (name == of) (*kernel)<<<1, 32>>>(out);
    }
    for (const auto& [of, kernel] : kOf64Threads) {
        if (name == of) (*kernel)<<<1, 64>>>(out);
    }
    if (name == "partnersNear") partners<<<1, 64>>>(out, 1);
    if (name == "partnersNearAndFar") {
        partners<<<1, 64>>>(out, 1);
        partners<<<1, 64>>>(out, 32);
    }
    if (name == "barriersOnOneLine") barriersOnOneLine<<<3, 32>>>(out);
    if (name == "manyBlocks") readAfterWrite<<<100, 64>>>(out);
    if (name == "rowOfTile") {
        cudaMemset(out, 0, 4096);
        rowOfTile<<<1, dim3(8, 8)>>>((float*)out, (float*)out + 64);
    }
    if (name == "vectors") vectors<<<1, 32, 32 * sizeof(float4)>>>((float4*)out);
    if (name == "bytesOfOneWord") bytesOfOneWord<<<1, 64>>>((char*)out);
    if (name == "beyondEnd") beyondEnd<<<2, 64>>>(other, 100);
    if (name == "straddles") straddles<<<1, 32>>>((float4*)(other + 94));
    if (name == "fromHost") fromHost<<<1, 32>>>(host.data(), out);
    if (name == "atomicOnHost") atomicOnHost<<<1, 32>>>(host.data());
    if (name == "farFromAll") farAway<<<1, 32>>>(other, out, 1 << 30);
    if (name == "nullPointer") nullPointer<<<1, 32>>>(nullptr);
    if (name == "freed") {
        cudaFree(other);
        freed<<<1, 32>>>(other);
    }
    if (name == "beyondDynamic") beyondDynamic<<<1, 32, 31 * sizeof(int)>>>(out);
    if (name == "cooperative") {
        void* arguments[] = {&out};
        cudaLaunchCooperativeKernel((void*)cooperative, 2, 64, arguments, 0, nullptr);
    }
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s: %s\n", argv[1], cudaGetErrorName(error));
    cudaFree(out);
}
