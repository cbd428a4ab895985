// Kernels that read and write memory of the host. Host and device share one address space (UVA),
// and pinned memory of the host is mapped into it. A kernel uses a pointer to such memory like any
// other, and each access travels over the link between host and device. Nothing is copied first.
// Does that pay?
//
// One direction, compared with the copy engine:
//     cudaMemcpyIn       host to device
//   1 readScalar         host to device, 4 bytes for each thread
//   2 readVector         16 bytes for each thread: fewer instructions
//   3 readEveryEighth    one float of each sector of 32 bytes: the whole sector travels
//     cudaMemcpyOut      device to host
//   4 writeScalar        device to host, 4 bytes for each thread
//   5 writeVector        16 bytes for each thread
//
// c = passes * (a + b), added up one by one. All three arrays are in host memory:
//   6 addWithCopies      copies a and b in, launches `passes` kernels, copies c out
//   7 addZeroCopy        the same kernels read a and b from the host, each time. The last one
//                        writes c to the host. The sums in between stay on the device
//   8 addFused           one kernel for all passes: it reads a and b once
//
// GB/s counts the bytes that the program uses, not the bytes that travel.
//
//   ./lab run zeroCopy -- --size=64M
//   ./lab test zeroCopy
//   ./lab profile zeroCopy
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target zeroCopy
//   build/ch04_memory/zeroCopy --size=64M
//   ncu build/ch04_memory/zeroCopy --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/zeroCopy/zeroCopy.cu
//       common/*.cpp common/*.cu -o build/zeroCopy

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kBlock = 256;
constexpr unsigned kApart = 8;  // floats in a sector

// Thread i copies element i. `in` and `out` may be in host or device memory.
__global__ void copyScalar(const float* __restrict__ in, float* __restrict__ out,
                           std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size) out[i] = in[i];
}

// Each thread copies four elements, so a quarter of the load instructions is enough to keep as many
// bytes in flight.
__global__ void copyVector(const float* __restrict__ in, float* __restrict__ out,
                           std::size_t size) {
    const std::size_t i = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (i + 4 <= size) {
        *reinterpret_cast<float4*>(out + i) = *reinterpret_cast<const float4*>(in + i);
    } else {
        for (std::size_t rest = i; rest < size; ++rest) out[rest] = in[rest];
    }
}

// The lanes of a warp are a sector apart. Seven eighths of what travels over the link are not used.
__global__ void readEveryEighth(const float* __restrict__ in, float* __restrict__ out,
                                std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i * kApart];
}

// Computes c = before + (a + b), or c = a + b where `before` is null. It reads a and b once, so
// several passes read them several times.
__global__ void add(const float* __restrict__ a, const float* __restrict__ b, const float* before,
                    float* c, std::size_t size) {
    const std::size_t i = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (i + 4 <= size) {
        const float4 x = *reinterpret_cast<const float4*>(a + i);
        const float4 y = *reinterpret_cast<const float4*>(b + i);
        float4 sum = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        if (before != nullptr) {
            const float4 s = *reinterpret_cast<const float4*>(before + i);
            sum = make_float4(s.x + sum.x, s.y + sum.y, s.z + sum.z, s.w + sum.w);
        }
        *reinterpret_cast<float4*>(c + i) = sum;
    } else {
        for (std::size_t rest = i; rest < size; ++rest) {
            const float sum = a[rest] + b[rest];
            c[rest] = before != nullptr ? before[rest] + sum : sum;
        }
    }
}

// Computes c = passes * (a + b), added up one by one. Each thread reads its elements of a and b
// once and keeps the sum in a register until it is complete.
__global__ void addFused(const float* __restrict__ a, const float* __restrict__ b,
                         float* __restrict__ c, std::size_t size, unsigned passes) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const float once = a[i] + b[i];
    float sum = once;
    for (unsigned pass = 1; pass < passes; ++pass) sum += once;
    c[i] = sum;
}

lab::PinnedBuffer<float> pinned(const std::vector<float>& values) {
    lab::PinnedBuffer<float> buffer(values.size());
    std::copy(values.begin(), values.end(), buffer.begin());
    return buffer;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned passes;
    lab::Exercise exercise("zeroCopy", "Kernels that use memory of the host, against copies.");
    exercise.option("size", &size, {1 << 23, 1 << 14}, 1, lab::kMaxSize, "number of floats");
    exercise.option("passes", &passes, 4, 1, 64, "the data are used up to so many times",
                    lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);

    const std::vector<float> first = lab::randomFloats(size, exercise.seed(), -1, 1);
    const std::vector<float> second = lab::randomFloats(size, exercise.seed() + 1, -1, 1);
    std::vector<float> everyEighth;
    for (std::size_t i = 0; i < size; i += kApart) everyEighth.push_back(first[i]);

    // The device can use pinned memory. With UVA, the same pointers are valid on both sides.
    const lab::PinnedBuffer<float> a = pinned(first), b = pinned(second);
    lab::PinnedBuffer<float> c(size);
    lab::DeviceBuffer<float> deviceA(size), deviceB(size), deviceC(size);
    const std::size_t bytes = deviceA.bytes();
    exercise.title("%s floats (%s)", lab::withCommas(size).c_str(), lab::inBytes(bytes).c_str());
    exercise.columns(lab::Columns::kLadder, {{"passes", 6, "passes"}}, {"percent_peak"});

    const unsigned scalarGrid = lab::blocksFor(size, kBlock);
    const unsigned vectorGrid = lab::blocksFor(size, 4 * kBlock);
    const unsigned eighthGrid = lab::blocksFor(everyEighth.size(), kBlock);
    const lab::Work oneWay = lab::bytes(1.0 * bytes);
    const lab::Work eighth = lab::bytes(1.0 * everyEighth.size() * sizeof(float));
    const auto onDevice = [&] { return lab::mismatch(deviceC, first, 0); };
    const auto onHost = [&](const auto& expectedOf) {
        return lab::mismatchOf(c.get(), size, expectedOf);
    };

    lab::Ladder reading(exercise, deviceC);
    reading.peer("cudaMemcpyIn", oneWay, onDevice, [&] {
        CUDA_CHECK(cudaMemcpyAsync(deviceC.get(), a.get(), bytes, cudaMemcpyHostToDevice));
    });
    reading.rung("readScalar", scalarGrid, kBlock, oneWay, onDevice,
                 [&] { copyScalar<<<scalarGrid, kBlock>>>(a.get(), deviceC.get(), size); });
    reading.rung("readVector", vectorGrid, kBlock, oneWay, onDevice,
                 [&] { copyVector<<<vectorGrid, kBlock>>>(a.get(), deviceC.get(), size); });
    reading.rung(
        "readEveryEighth", eighthGrid, kBlock, eighth,
        [&] { return lab::mismatch(deviceC.toHost(everyEighth.size()), everyEighth, 0); },
        [&] {
            readEveryEighth<<<eighthGrid, kBlock>>>(a.get(), deviceC.get(), everyEighth.size());
        });

    // Where the result is in host memory, a copy of the device's poisoned buffer poisons it.
    const auto poisonHost = [&] {
        CUDA_CHECK(cudaMemcpyAsync(c.get(), deviceC.get(), bytes, cudaMemcpyDeviceToHost));
    };
    deviceA.copyFrom(first);
    const auto isFirst = [&] { return onHost([&](std::size_t i) { return first[i]; }); };
    lab::Ladder writing(exercise, deviceC, poisonHost);
    writing.peer("cudaMemcpyOut", oneWay, isFirst, [&] {
        CUDA_CHECK(cudaMemcpyAsync(c.get(), deviceA.get(), bytes, cudaMemcpyDeviceToHost));
    });
    writing.rung("writeScalar", scalarGrid, kBlock, oneWay, isFirst,
                 [&] { copyScalar<<<scalarGrid, kBlock>>>(deviceA.get(), c.get(), size); });
    writing.rung("writeVector", vectorGrid, kBlock, oneWay, isFirst,
                 [&] { copyVector<<<vectorGrid, kBlock>>>(deviceA.get(), c.get(), size); });

    const lab::Work three = lab::bytes(3.0 * bytes);
    for (unsigned pass = 1; pass <= passes; pass *= 2) {
        const std::string parameters = exercise.parameters({{"passes", std::to_string(pass)}});
        const auto sumOf = [&](std::size_t i) {
            const float each = first[i] + second[i];
            float sum = each;
            for (unsigned added = 1; added < pass; ++added) sum += each;
            return sum;
        };
        const auto isSum = [&] { return lab::Finding(onHost(sumOf), {pass}); };
        const auto before = [&](unsigned i) { return i == 0 ? nullptr : deviceC.get(); };
        lab::Ladder adding(exercise, deviceC, poisonHost);
        adding.rung({"addWithCopies", parameters}, vectorGrid, kBlock, three, isSum, [&] {
            CUDA_CHECK(cudaMemcpyAsync(deviceA.get(), a.get(), bytes, cudaMemcpyHostToDevice));
            CUDA_CHECK(cudaMemcpyAsync(deviceB.get(), b.get(), bytes, cudaMemcpyHostToDevice));
            for (unsigned i = 0; i < pass; ++i) {
                add<<<vectorGrid, kBlock>>>(deviceA.get(), deviceB.get(), before(i), deviceC.get(),
                                            size);
            }
            CUDA_CHECK(cudaMemcpyAsync(c.get(), deviceC.get(), bytes, cudaMemcpyDeviceToHost));
        });
        adding.rung({"addZeroCopy", parameters}, vectorGrid, kBlock, three, isSum, [&] {
            for (unsigned i = 0; i < pass; ++i) {
                float* const target = i + 1 == pass ? c.get() : deviceC.get();
                add<<<vectorGrid, kBlock>>>(a.get(), b.get(), before(i), target, size);
            }
        });
        adding.rung({"addFused", parameters}, scalarGrid, kBlock, three, isSum, [&] {
            addFused<<<scalarGrid, kBlock>>>(a.get(), b.get(), c.get(), size, pass);
        });
    }
    return exercise.finish();
}
