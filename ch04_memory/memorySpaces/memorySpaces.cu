// Where a variable lives decides which threads see it, how long it keeps its value, and what an
// access costs. In the first part, every thread adds to a counter. There is one counter for each
// thread, for each block, or for the whole grid:
//
//   1 registerCounter  a variable of the kernel
//   2 sharedCounter    a __shared__ variable
//   3 deviceCounter    a __device__ variable; a second launch and the host read it
//
// The number that they add is a __constant__ variable. In the second part, every thread has an
// array of 16 numbers, and sums it from a place that only the launch knows. The kernels keep the
// array in different memories:
//
//   4 variableIndex    local memory, because the compiler does not know the index
//   5 selectedIndex    registers: it compares the index with each constant
//   6 sharedArray      shared memory: each thread has a column
//   7 constantIndex    registers: it loads the numbers in the order of their use
//
// regs and local are registers and bytes of a thread. shared is bytes of a block.
//
//   ./lab run memorySpaces -- --size=4M
//   ./lab test memorySpaces
//   ./lab profile memorySpaces
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target memorySpaces
//   build/ch04_memory/memorySpaces --size=4M
//   ncu build/ch04_memory/memorySpaces --profile
//   nvcc -arch=native -Xptxas=-v -I common -c ch04_memory/memorySpaces/memorySpaces.cu    (regs,
//   local, shared)
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/memorySpaces/memorySpaces.cu
//       common/*.cpp common/*.cu -o build/memorySpaces

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kValues = 16;     // length of the array that each thread has
constexpr unsigned kMaxBlock = 512;  // threads whose arrays fit into the shared memory of a block

// Constant memory: kernels read it. Only the host writes it, with cudaMemcpyToSymbol().
__constant__ unsigned addend;

// Global memory: all threads of all kernels read and write it, and the host copies from and to it.
// The variable exists before the first kernel, and keeps its value from launch to launch.
__device__ unsigned counter = 0;

__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// ---- who counts together ----

// A variable that a kernel declares exists once for each thread, while the thread runs. It lies in
// a register, so it has no address that another thread could use.
__global__ void registerCounter(std::size_t size, unsigned* seen) {
    unsigned mine = 0;
    mine += addend;
    if (globalThread() < size) seen[globalThread()] = mine;
}

// There is one counter for each block, and it is gone when the block ends. Its declaration cannot
// give it a value, so a thread does that, and the others wait until it is done.
__global__ void sharedCounter(std::size_t size, unsigned* seen) {
    __shared__ unsigned ours;
    if (threadIdx.x == 0) ours = 0;
    __syncthreads();
    if (globalThread() < size) atomicAdd(&ours, addend);
    __syncthreads();
    if (globalThread() < size) seen[globalThread()] = ours;
}

// There is one counter for all threads. No barrier waits for all of them, so only the next launch
// finds the whole sum. That launch gets the address, which the host has asked for: to a kernel, the
// variable is memory like any other.
__global__ void deviceCounter(std::size_t size) {
    if (globalThread() < size) atomicAdd(&counter, addend);
}
__global__ void seeCounter(std::size_t size, const unsigned* anyCounter, unsigned* seen) {
    if (globalThread() < size) seen[globalThread()] = *anyCounter;
}

// ---- an array of each thread ----

// Each kernel sums kValues numbers: the number at `first` counts once, the next one twice, and so
// on, in a circle. Number k of thread t is in[k * size + t], so all loads are coalesced.

// A register has no address: the instruction contains its number. So the compiler would have to
// know which register values[(first + k) % 16] is. It does not know `first`, so it puts the array
// into local memory, a piece of device memory for each thread, behind the caches. Still wrong: all
// that a thread stores there goes on to L2.
__global__ void variableIndex(const int* in, std::size_t size, unsigned first, int* out) {
    const std::size_t t = globalThread();
    if (t >= size) return;
    int values[kValues];
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k) values[k] = in[k * size + t];

    int sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k)
        sum += static_cast<int>(k + 1) * values[(first + k) % kValues];
    out[t] = sum;
}

// Looks at all numbers and takes one. Both loops are unrolled, so j is a constant in each
// comparison, and the array stays in registers. Still wrong: it takes 16 comparisons to find a
// number.
__global__ void selectedIndex(const int* in, std::size_t size, unsigned first, int* out) {
    const std::size_t t = globalThread();
    if (t >= size) return;
    int values[kValues];
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k) values[k] = in[k * size + t];

    int sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k) {
        const unsigned index = (first + k) % kValues;
        int value = 0;
#pragma unroll
        for (unsigned j = 0; j < kValues; ++j) {
            if (j == index) value = values[j];
        }
        sum += static_cast<int>(k + 1) * value;
    }
    out[t] = sum;
}

// Shared memory has addresses and is as near as L1, and what a thread stores there goes nowhere
// else. Neighbouring threads have neighbouring words of a row. No thread reads what another has
// written, so there is no barrier. Still wrong: the array takes room, and an SM has little for all
// its blocks.
__global__ void sharedArray(const int* in, std::size_t size, unsigned first, int* out) {
    extern __shared__ int rows[];  // kValues rows, with a word for each thread
    const std::size_t t = globalThread();
    if (t >= size) return;
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k) rows[k * blockDim.x + threadIdx.x] = in[k * size + t];

    int sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k)
        sum += static_cast<int>(k + 1) * rows[(first + k) % kValues * blockDim.x + threadIdx.x];
    out[t] = sum;
}

// Global memory has addresses as well. The thread loads the numbers in the order in which it needs
// them, so all indices of the array are constants.
__global__ void constantIndex(const int* in, std::size_t size, unsigned first, int* out) {
    const std::size_t t = globalThread();
    if (t >= size) return;
    int values[kValues];
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k) values[k] = in[(first + k) % kValues * size + t];

    int sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k) sum += static_cast<int>(k + 1) * values[k];
    out[t] = sum;
}

// CPU reference of the sums.
std::vector<int> sumsOf(const std::vector<int>& in, std::size_t size, unsigned first) {
    std::vector<int> sums = lab::hostVector<int>(size);
    lab::parallelFor(size, 4096, [&](std::size_t begin, std::size_t end) {
        for (unsigned k = 0; k < kValues; ++k) {
            const int* const row = &in[(first + k) % kValues * size];
            for (std::size_t t = begin; t < end; ++t) sums[t] += static_cast<int>(k + 1) * row[t];
        }
    });
    return sums;
}

// For each thread: the number of threads in its block, times `each`.
std::vector<unsigned> countsOfBlocks(std::size_t size, unsigned block, unsigned each) {
    std::vector<unsigned> counts = lab::hostVector<unsigned>(size);
    for (std::size_t t = 0; t < size; ++t) {
        const std::size_t first = t / block * block;
        counts[t] = each * static_cast<unsigned>(std::min<std::size_t>(block, size - first));
    }
    return counts;
}

// How much there is of each kind of memory.
std::string limits() {
    int device;
    cudaDeviceProp gpu;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaGetDeviceProperties(&gpu, device));
    const auto bytes = [](std::size_t size) { return lab::inBytes(size); };
    const auto line = [](const char* declared, const char* memory, const char* seenBy,
                         const char* lives, const std::string& most) {
        return lab::formatted("%-20s  %-8s  %-7s  %-7s  %s\n", declared, memory, seenBy, lives,
                              most.c_str());
    };
    return line("declared", "memory", "seen by", "lives", "at most, on this device") +
           line("int x;", "register", "thread", "thread",
                lab::withCommas(gpu.regsPerBlock) + " of 32 bits for a block") +
           line("int x[16];", "the same", "thread", "thread", "or local, a part of global") +
           line("__shared__ int x;", "shared", "block", "block",
                bytes(gpu.sharedMemPerBlock) + ", or " + bytes(gpu.sharedMemPerBlockOptin) +
                    " if asked") +
           line("__constant__ int x;", "constant", "all", "program", bytes(gpu.totalConstMem)) +
           line("__device__ int x;", "global", "all", "program",
                "global memory has " + bytes(gpu.totalGlobalMem));
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned block;
    lab::Exercise exercise("memorySpaces", "Who sees a variable, how long it lives, its cost.");
    exercise.option("size", &size, {1 << 22, 1 << 12}, 1, lab::kMaxSize / kValues, "threads");
    exercise.option("block", &block, 256, 1, kMaxBlock, "threads per block");
    exercise.parse(argc, argv);
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    exercise.columns(
        lab::Columns::kLadder,
        {{"regs", 4, "registers", kOnGpu}, {"local", 5, "local", kOnGpu}, {"shared", 6, "shared"}},
        {"grid", "block"});
    exercise.title("%s threads, block %u", lab::withCommas(size).c_str(), block);
    exercise.note(limits());
    exercise.noteInEmulation("It has no registers, and does not count accesses to local memory.");

    const unsigned grid = lab::blocksFor(size, block);
    const auto costs = [](auto* kernel, std::string wrong,
                          std::size_t dynamic = 0) -> lab::Finding {
        cudaFuncAttributes attributes;
        CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
        return {
            wrong,
            {attributes.numRegs, attributes.localSizeBytes, attributes.sharedSizeBytes + dynamic}};
    };

    // The host names both variables in copies. For a pointer, it has to ask.
    const unsigned each = 3, start = 1000;
    CUDA_CHECK(cudaMemcpyToSymbol(addend, &each, sizeof each));
    const auto reset = [&] { CUDA_CHECK(cudaMemcpyToSymbol(counter, &start, sizeof start)); };
    void* address = nullptr;
    CUDA_CHECK(cudaGetSymbolAddress(&address, counter));

    lab::DeviceBuffer<unsigned> seenByAll(size);
    unsigned* const seen = seenByAll.get();
    const std::vector<unsigned> alone(size, each), ofBlocks = countsOfBlocks(size, block, each);
    const std::vector<unsigned> ofGrid(size + 1, start + each * static_cast<unsigned>(size));

    const lab::Work written = lab::bytes(1.0 * seenByAll.bytes());
    lab::Ladder counters(exercise, seenByAll, reset);
    counters.rung(
        "registerCounter", grid, block, written,
        [&] { return costs(registerCounter, lab::mismatch(seenByAll, alone)); },
        [&] { registerCounter<<<grid, block>>>(size, seen); });
    counters.rung(
        "sharedCounter", grid, block, written,
        [&] { return costs(sharedCounter, lab::mismatch(seenByAll, ofBlocks)); },
        [&] { sharedCounter<<<grid, block>>>(size, seen); });
    counters.rung(
        "deviceCounter", grid, block, written,
        [&] {
            std::vector<unsigned> all = seenByAll.toHost();
            all.push_back(0);  // for what the host sees
            CUDA_CHECK(cudaMemcpyFromSymbol(&all.back(), counter, sizeof counter));
            return costs(deviceCounter, lab::mismatch(all, ofGrid));
        },
        [&] {
            deviceCounter<<<grid, block>>>(size);
            seeCounter<<<grid, block>>>(size, static_cast<unsigned*>(address), seen);
        });

    // Never 0: a kernel that ignores `first` must be WRONG.
    const unsigned first = 1 + lab::randomBits(exercise.seed(), 0) % (kValues - 1);
    const std::vector<int> input = lab::randomInts(kValues * size, exercise.seed(), -100, 100);
    const std::vector<int> expected = sumsOf(input, size, first);
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> target(size);
    const int* const in = source.get();
    int* const out = target.get();
    const lab::Work moved = lab::bytes(1.0 * source.bytes() + target.bytes());
    const auto summed = [&](auto* kernel, std::size_t dynamic = 0) {
        return costs(kernel, lab::mismatch(target, expected), dynamic);
    };

    lab::Ladder sums(exercise, target);
    sums.rung(
        "variableIndex", grid, block, moved, [&] { return summed(variableIndex); },
        [&] { variableIndex<<<grid, block>>>(in, size, first, out); });
    sums.rung(
        "selectedIndex", grid, block, moved, [&] { return summed(selectedIndex); },
        [&] { selectedIndex<<<grid, block>>>(in, size, first, out); });
    const std::size_t rows = block * kValues * sizeof(int);  // bytes
    sums.rung(
        "sharedArray", grid, block, moved, [&] { return summed(sharedArray, rows); },
        [&] { sharedArray<<<grid, block, rows>>>(in, size, first, out); });
    sums.rung(
        "constantIndex", grid, block, moved, [&] { return summed(constantIndex); },
        [&] { constantIndex<<<grid, block>>>(in, size, first, out); });
    return exercise.finish();
}
