// A particle has eight fields. Their layout in memory decides which sectors a warp's load touches,
// and which bytes the memory moves for a kernel that uses one field or all of them.
//
//   AoS    array of structures: all fields of a particle, then those of the next
//   SoA    structure of arrays: one field of all particles, then the next field
//   AoSoA  array of tiles. Each tile is a structure of arrays of 32 particles, one for each lane
//
//   1 massAos, massSoa, massAosoa  load one field of each particle
//   2 allAos, allSoa, allAosoa     add all eight fields, 4 bytes at a time
//     allAosFloat2, allAosFloat4   the same with loads of 8 and of 16 bytes for each lane
//     allAosFloat4Pairs            makes both loads of a particle before those of the next
//     allSoaFloat4                 loads 16 bytes: one field of four particles
//
//   load     bytes that a load brings to each lane
//   loads    loads of a warp for each 32 particles
//   sectors  sectors of 32 bytes that a load of a warp touches, by a formula
//   % used   the share of their bytes that the load uses, by a formula
//   GB/s     counts the bytes that the kernel uses, and the 4 that it writes for each particle
//   limit    GB/s if each sector of the array came once, at the peak of the memory
//
// The speedup is relative to massAos, and from allAos on relative to allAos.
//
//   ./lab run structLayouts -- --size=64M
//   ./lab test structLayouts
//   ./lab profile structLayouts
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target structLayouts
//   build/ch04_memory/structLayouts --size=64M
//   ncu build/ch04_memory/structLayouts --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/structLayouts/structLayouts.cu
//       common/*.cpp common/*.cu -o build/structLayouts

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lab.cuh"

constexpr unsigned kWarp = 32;
constexpr unsigned kBlock = 256;
constexpr unsigned kPerThread = 4;                  // particles, enough to keep loads in flight
constexpr unsigned kPadding = kBlock * kPerThread;  // arrays are padded to a multiple of this
constexpr unsigned kFields = 8;

struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

struct ParticleArrays {
    const float *x, *y, *z, *mass, *vx, *vy, *vz, *charge;
};

struct ParticleTile {
    float x[kWarp], y[kWarp], z[kWarp], mass[kWarp], vx[kWarp], vy[kWarp], vz[kWarp], charge[kWarp];
};

// In all kernels, a block has kPadding particles, and a thread has every kBlock-th of them.
// __restrict__ promises that `out` does not overlap the input, so a thread may start all of its
// loads before its first store.
__device__ std::size_t particle(unsigned k) {
    return (std::size_t{blockIdx.x} * kPerThread + k) * kBlock + threadIdx.x;
}

// ---- one field ----

// The masses of neighbouring particles are 32 bytes apart. Each lane's 4 bytes lie in a sector of
// their own, and nobody uses the other 28 bytes.
__global__ void massAos(const Particle* aos, float* __restrict__ out) {
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) out[particle(k)] = aos[particle(k)].mass;
}

// The masses of neighbouring particles are neighbours. A load touches four sectors and uses all of
// their bytes.
__global__ void massSoa(ParticleArrays particles, float* __restrict__ out) {
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) out[particle(k)] = particles.mass[particle(k)];
}

// Nearly as good: within a tile the masses are neighbours, and each warp has a tile of its own.
__global__ void massAosoa(const ParticleTile* tiles, float* __restrict__ out) {
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k)
        out[particle(k)] = tiles[particle(k) / kWarp].mass[particle(k) % kWarp];
}

// ---- all fields ----

// Eight loads, and each of them touches all 32 sectors. But the next loads want the rest of each
// sector, and the L1 cache keeps it for them.
__global__ void allAos(const Particle* aos, float* __restrict__ out) {
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const Particle& p = aos[particle(k)];
        out[particle(k)] = p.x + p.y + p.z + p.mass + p.vx + p.vy + p.vz + p.charge;
    }
}

// Four loads of 8 bytes for each lane. (A float2 must lie at a multiple of 8 bytes.)
__global__ void allAosFloat2(const float2* aos, float* __restrict__ out) {
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const float2* const p = aos + 4 * particle(k);
        const float2 a = p[0], b = p[1], c = p[2], d = p[3];
        out[particle(k)] = a.x + a.y + b.x + b.y + c.x + c.y + d.x + d.y;
    }
}

// Two loads of 16 bytes. (A float4 must lie at a multiple of 16 bytes.) Still wrong: the compiler
// starts the first loads of all four particles, and waits for them before it starts the second
// loads. Task 3 asks why that is slow.
__global__ void allAosFloat4(const float4* aos, float* __restrict__ out) {
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const float4* const p = aos + 2 * particle(k);
        const float4 a = p[0], b = p[1];
        out[particle(k)] = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
    }
}

// The loop stays a loop. The two loads of a particle follow each other, so the second one finds its
// sectors in L1, or on their way there.
__global__ void allAosFloat4Pairs(const float4* aos, float* __restrict__ out) {
#pragma unroll 1
    for (unsigned k = 0; k < kPerThread; ++k) {
        const float4* const p = aos + 2 * particle(k);
        const float4 a = p[0], b = p[1];
        out[particle(k)] = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
    }
}

// Eight loads of four sectors each, from eight arrays.
__global__ void allSoa(ParticleArrays p, float* __restrict__ out) {
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const std::size_t i = particle(k);
        out[i] = p.x[i] + p.y[i] + p.z[i] + p.mass[i] + p.vx[i] + p.vy[i] + p.vz[i] + p.charge[i];
    }
}

// A thread has four neighbouring particles, and needs eight loads of 16 bytes for all of them.
__global__ void allSoaFloat4(ParticleArrays particles, float* __restrict__ out) {
    const std::size_t quad = std::size_t{blockIdx.x} * kBlock + threadIdx.x;
    float sums[4] = {};
    const auto add = [&sums, quad](const float* field) {
        const float4 four = reinterpret_cast<const float4*>(field)[quad];
        sums[0] += four.x;
        sums[1] += four.y;
        sums[2] += four.z;
        sums[3] += four.w;
    };
    add(particles.x);
    add(particles.y);
    add(particles.z);
    add(particles.mass);
    add(particles.vx);
    add(particles.vy);
    add(particles.vz);
    add(particles.charge);
    reinterpret_cast<float4*>(out)[quad] = make_float4(sums[0], sums[1], sums[2], sums[3]);
}

// Eight loads of four sectors each, from one place.
__global__ void allAosoa(const ParticleTile* tiles, float* __restrict__ out) {
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const ParticleTile& p = tiles[particle(k) / kWarp];
        const unsigned i = particle(k) % kWarp;
        out[particle(k)] =
            p.x[i] + p.y[i] + p.z[i] + p.mass[i] + p.vx[i] + p.vy[i] + p.vz[i] + p.charge[i];
    }
}

// CPU reference: the sum of fields first ... last of particle i.
template <typename FieldOf>
float sumOf(std::size_t i, unsigned first, unsigned last, FieldOf fieldOf) {
    float sum = fieldOf(i, first);
    for (unsigned f = first + 1; f <= last; ++f) sum += fieldOf(i, f);
    return sum;
}

int main(int argc, char** argv) {
    std::size_t size;
    lab::Exercise exercise("structLayouts", "Arrays of structures, or structures of arrays.");
    exercise.option("size", &size, {1 << 23, 1 << 14}, 1, lab::kMaxSize / kFields, "particles");
    exercise.parse(argc, argv);
    constexpr auto kPredicted = lab::OwnColumn::kPredicted;
    exercise.columns(lab::Columns::kLadder,
                     {{"load", 4, "load"},
                      {"loads", 5, "loads", kPredicted},
                      {"sectors", 7, "sectors", kPredicted},
                      {"% used", 6, "percent_used", kPredicted},
                      {"limit", 6, "limit_gbps", lab::OwnColumn::kOnGpu}},
                     {"grid", "block", "percent_peak"});

    const unsigned grid = lab::blocksFor(size, kPadding);
    const std::size_t padded = std::size_t{grid} * kPadding;
    const std::uint64_t seed = exercise.seed();
    const auto fieldOf = [=](std::size_t i, std::size_t f) {  // field f of particle i
        return lab::randomFloat(seed, i * kFields + f, -1, 1);
    };
    // The field at each place of a layout.
    const auto aosFields = lab::filled<float>(padded * kFields, [&](std::size_t place) {
        return fieldOf(place / kFields, place % kFields);
    });
    const auto soaFields = lab::filled<float>(padded * kFields, [&](std::size_t place) {
        return fieldOf(place % padded, place / padded);
    });
    const auto aosoaFields = lab::filled<float>(padded * kFields, [&](std::size_t place) {
        const std::size_t ofTile = kWarp * kFields;
        return fieldOf(place / ofTile * kWarp + place % kWarp, place / kWarp % kFields);
    });
    const float* const field = soaFields.get();
    const ParticleArrays soa = {field,
                                field + padded,
                                field + 2 * padded,
                                field + 3 * padded,
                                field + 4 * padded,
                                field + 5 * padded,
                                field + 6 * padded,
                                field + 7 * padded};
    const auto* const aos = reinterpret_cast<const Particle*>(aosFields.get());
    const auto* const aosoa = reinterpret_cast<const ParticleTile*>(aosoaFields.get());
    lab::DeviceBuffer<float> results(padded);
    float* const out = results.get();
    exercise.title("%s particles (%s)", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(Particle)).c_str());

    // A kernel uses some fields of a particle, and the memory moves some, whole sectors. For 32
    // particles, a warp makes some loads. Each has some bytes for a lane and touches some sectors.
    struct Used {
        unsigned fields;
    };
    struct Moved {
        unsigned fields;
    };
    struct Loads {
        unsigned count;
    };
    struct Bytes {
        unsigned count;
    };
    struct Sectors {
        unsigned count;
    };
    const auto row = [&](lab::Ladder& ladder, const char* name, Used used, Moved moved, Loads loads,
                         Bytes bytes, Sectors sectors, const lab::Launch& launch) {
        const double limit =
            1e-9 * exercise.device().peakBandwidth * (used.fields + 1) / (moved.fields + 1);
        const auto check = [&, used, limit, loads, bytes, sectors]() -> lab::Finding {
            const auto expected = [&](std::size_t i) {
                return used.fields == 1 ? sumOf(i, 3, 3, fieldOf) : sumOf(i, 0, 7, fieldOf);
            };
            return {lab::mismatchOf(results, size, expected),
                    {bytes.count,
                     loads.count,
                     sectors.count,
                     {100.0 * bytes.count / sectors.count, 1},
                     {limit, 0}}};
        };
        const lab::Work work =
            lab::bytes(sizeof(float) * (used.fields + 1.0) * size);  // with the result
        ladder.rung(name, grid, kBlock, work, check, launch);
    };

    lab::Ladder mass(exercise, results);
    row(mass, "massAos", Used{1}, Moved{8}, Loads{1}, Bytes{4}, Sectors{32},
        [&] { massAos<<<grid, kBlock>>>(aos, out); });
    row(mass, "massSoa", Used{1}, Moved{1}, Loads{1}, Bytes{4}, Sectors{4},
        [&] { massSoa<<<grid, kBlock>>>(soa, out); });
    row(mass, "massAosoa", Used{1}, Moved{1}, Loads{1}, Bytes{4}, Sectors{4},
        [&] { massAosoa<<<grid, kBlock>>>(aosoa, out); });

    lab::Ladder all(exercise, results);
    const auto* const twos = reinterpret_cast<const float2*>(aos);
    const auto* const fours = reinterpret_cast<const float4*>(aos);
    row(all, "allAos", Used{8}, Moved{8}, Loads{8}, Bytes{4}, Sectors{32},
        [&] { allAos<<<grid, kBlock>>>(aos, out); });
    row(all, "allAosFloat2", Used{8}, Moved{8}, Loads{4}, Bytes{8}, Sectors{32},
        [&] { allAosFloat2<<<grid, kBlock>>>(twos, out); });
    row(all, "allAosFloat4", Used{8}, Moved{8}, Loads{2}, Bytes{16}, Sectors{32},
        [&] { allAosFloat4<<<grid, kBlock>>>(fours, out); });
    row(all, "allAosFloat4Pairs", Used{8}, Moved{8}, Loads{2}, Bytes{16}, Sectors{32},
        [&] { allAosFloat4Pairs<<<grid, kBlock>>>(fours, out); });
    row(all, "allSoa", Used{8}, Moved{8}, Loads{8}, Bytes{4}, Sectors{4},
        [&] { allSoa<<<grid, kBlock>>>(soa, out); });
    row(all, "allSoaFloat4", Used{8}, Moved{8}, Loads{2}, Bytes{16}, Sectors{16},
        [&] { allSoaFloat4<<<grid, kBlock>>>(soa, out); });
    row(all, "allAosoa", Used{8}, Moved{8}, Loads{8}, Bytes{4}, Sectors{4},
        [&] { allAosoa<<<grid, kBlock>>>(aosoa, out); });
    return exercise.finish();
}
