// What the cpu back end costs: CUDA threads, barrier arrivals, shuffling lanes and launches per
// second (items_per_second).
//
//   taskset -c 0 build/cpu/tests/emulator_bench        on one core
//   build/cpu/tests/emulator_bench                     on all
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

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

BENCHMARK_MAIN();
