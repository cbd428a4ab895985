// What the cpu back end costs: CUDA threads, barrier arrivals, shuffling lanes, launches and added
// elements per second (items_per_second).
//
//   taskset -c 0 out/cpu/tests/emulator_bench        on one core
//   out/cpu/tests/emulator_bench                     on all
//
// And what the profiler costs, in time and memory:
//
//   CUDA_EMULATOR_PROFILE=/dev/null taskset -c 0 out/cpu/tests/emulator_bench_profiled
//       --benchmark_filter=reduction
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <sys/resource.h>

#include <vector>

__global__ void vectorAdd(const float* a, const float* b, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

void threadsWithoutBarriers(benchmark::State& state) {
    const int n = 1 << 22;
    std::vector<float> a(n, 1.0f), b(n, 2.0f), sum(n);
    for (auto _ : state) {
        vectorAdd<<<n / 256, 256>>>(a.data(), b.data(), sum.data(), n);
        if (sum[n - 1] != 3.0f) state.SkipWithError("wrong sum");
    }
    state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(threadsWithoutBarriers)->UseRealTime();

__global__ void barriers(int rounds) {
    for (int i = 0; i < rounds; ++i) __syncthreads();
}

void barrierArrivals(benchmark::State& state) {
    const int block = static_cast<int>(state.range(0)), threads = 1 << 14, rounds = 100;
    for (auto _ : state) barriers<<<threads / block, block>>>(rounds);
    state.SetItemsProcessed(state.iterations() * threads * rounds);
}
BENCHMARK(barrierArrivals)->UseRealTime()->Arg(32)->Arg(256)->Arg(1024);

__global__ void shuffles(int* out, int rounds) {
    int value = threadIdx.x;
    for (int i = 0; i < rounds; ++i) value += __shfl_xor_sync(0xffffffffu, value, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

void shuffledLanes(benchmark::State& state) {
    const int threads = 1 << 14, rounds = 100;
    std::vector<int> out(threads);
    for (auto _ : state) shuffles<<<threads / 256, 256>>>(out.data(), rounds);
    state.SetItemsProcessed(state.iterations() * threads * rounds);
}
BENCHMARK(shuffledLanes)->UseRealTime();

__global__ void nothing() {}

void launches(benchmark::State& state) {
    const int blocks = static_cast<int>(state.range(0));
    for (auto _ : state) nothing<<<blocks, 32>>>();
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(launches)->UseRealTime()->Arg(1)->Arg(64);

// The first rung of reduceInteger.
__global__ void reduceNeighbored(int* data, int* sums) {
    int* block = data + blockIdx.x * blockDim.x;
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0) block[threadIdx.x] += block[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = block[0];
}

void reduction(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0)), block = 512;
    const std::vector<int> ones(n, 1);
    int *data = nullptr, *sums = nullptr;
    cudaMalloc(&data, n * sizeof(int));
    cudaMalloc(&sums, n / block * sizeof(int));
    for (auto _ : state) {
        cudaMemcpy(data, ones.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        reduceNeighbored<<<n / block, block>>>(data, sums);
        int last = 0;
        cudaMemcpy(&last, sums + n / block - 1, sizeof(int), cudaMemcpyDeviceToHost);
        if (last != block) state.SkipWithError("wrong sum");
    }
    cudaFree(data);
    cudaFree(sums);
    state.SetItemsProcessed(state.iterations() * n);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;  // of the process
}
BENCHMARK(reduction)->UseRealTime()->Arg(1 << 18)->Arg(1 << 20)->Arg(1 << 22);

BENCHMARK_MAIN();
