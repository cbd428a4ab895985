// Counts events of several kinds: every event adds 1 to the counter of its kind. Two threads may
// add to one counter at the same time, so the addition must be atomic. The kernels do the same
// additions with ever fewer atomic operations, or in a nearer memory.
//
//    1 countOne       all events have one kind, and the compiler knows it
//    2 countEach      one atomic operation in global memory for each event
//    3 countApart     the same with counters that lie 32 bytes apart, so that each has a sector
//    4 findFirst      as countEach, and the thread uses the value that the operation returns
//    5 countFloat     as countEach, and the counters are floats
//    6 casLoop        as countEach, and the addition is a loop around atomicCAS()
//    7 countPerWarp   one atomic operation for each kind that a warp has
//    8 countPerBlock  each block has counters of its own in shared memory
//    9 addPerBlock    the same, but the compiler does not know that each event adds 1
//   10 addPerLane     a block has 32 copies of each counter, one for each lane
//   11 relaxedBlock   cuda::atomic_ref: relaxed..., acquire..., release... and seqCst... are memory
//                     orders, and ...Block, ...Device and ...System are scopes
//   12 largestCas     the largest of n floats: there is no atomicMax() for them
//      largestBits    the same with atomicMax(), on the bits of the floats
//   13 handOver       each block hands data to the next one, with an atomic flag
//
// Kernels 2 to 10 run once for each number of kinds: 1, 2, 4 and so on. 32 events in a row have
// each kind equally often, so `kinds` is the number of different counters that a warp adds to.
//
//   global     atomic operations of threads on global memory
//   shared     the same on shared memory
//   per cycle  events that the GPU counts in one cycle
//
//   ./lab run atomics -- --kinds=4 --kernel=count
//   ./lab test atomics
//   ./lab profile atomics
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target atomics
//   build/ch04_memory/atomics --kinds=4 --kernel=count
//   ncu build/ch04_memory/atomics --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/atomics/atomics.cu
//       common/*.cpp common/*.cu -o build/atomics

#include <algorithm>
#include <cstddef>
#include <cuda/atomic>
#include <string>
#include <vector>

#include "lab.cuh"
#include "warp_sum.cuh"

constexpr unsigned kWarp = 32, kMaxKinds = 32;
constexpr unsigned kApart = 8;               // ints in a sector of 32 bytes
constexpr std::size_t kFewEvents = 1 << 12;  // for casLoop, which takes too long for more

// In all counting kernels, a thread goes through the events in a grid-stride loop.
__device__ std::size_t globalThread() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::size_t threadsInGrid() {
    return std::size_t{gridDim.x} * blockDim.x;
}

// The address is the same for all threads, and the compiler sees that. It counts the active lanes
// of the warp, and lets one lane add their number. You do not have to do that by hand.
__global__ void countOne(const int* events, std::size_t n, int* counts) {
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid())
        if (events[i] == 0) atomicAdd(&counts[0], 1);
}

// The address depends on data, so the compiler cannot know which lanes have the same one. Still
// wrong: lanes with the same kind collide, and all blocks collide with one another.
__global__ void countEach(const int* events, std::size_t n, int* counts) {
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid())
        atomicAdd(&counts[events[i]], 1);
}

// Each counter has a sector of its own. On a CPU that helps: cores that write to different counters
// no longer fight for one cache line. Here it is a step back: L2 adds to all words of a sector at
// once, but to one sector at a time.
__global__ void countApart(const int* events, std::size_t n, int* counts) {
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid())
        atomicAdd(&counts[kApart * events[i]], 1);
}

// The thread that counts the first event of a kind remembers which event that is. It needs the old
// value, so the operation has to come back from L2. Those above are sent and forgotten.
__global__ void findFirst(const int* events, std::size_t n, int* counts, int* first) {
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid())
        if (atomicAdd(&counts[events[i]], 1) == 0) first[events[i]] = static_cast<int>(i);
}

// A float counts to 2^24 and no further: 16,777,216 + 1 is no float, and rounds to 16,777,216.
__global__ void countFloat(const int* events, std::size_t n, float* counts) {
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid())
        atomicAdd(&counts[events[i]], 1.0f);
}

// Any operation can be made of compare-and-swap: compute the new value from the old one, and store
// it unless another thread has been faster. Still wrong: of the lanes with the same counter, one
// gets through in each iteration, and all others try again. (The program gives this kernel few
// events.)
__global__ void casLoop(const int* events, std::size_t n, int* counts) {
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid()) {
        int* const count = &counts[events[i]];
        int seen = 0, old;
        do {
            old = seen;
            seen = atomicCAS(count, old, old + 1);
        } while (seen != old);
    }
}

// Lanes with the same kind find each other, and the first of them adds their number. Still wrong:
// all blocks collide at the same few counters.
__global__ void countPerWarp(const int* events, std::size_t n, int* counts) {
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid()) {
        const int kind = events[i];
        const unsigned same = __match_any_sync(__activemask(), kind);  // one bit for each lane
        const unsigned first = __ffs(same) - 1;
        if (threadIdx.x % kWarp == first) atomicAdd(&counts[kind], __popc(same));
    }
}

// A block counts in shared memory, where no other block can collide with it. It adds its counters
// to those in global memory once, at its end.
__global__ void countPerBlock(const int* events, std::size_t n, unsigned kinds, int* counts) {
    __shared__ int own[kMaxKinds];
    if (threadIdx.x < kinds) own[threadIdx.x] = 0;
    __syncthreads();

    for (std::size_t i = globalThread(); i < n; i += threadsInGrid()) {
        int* const counter = own + events[i];
        atomicAdd(counter, 1);
    }
    __syncthreads();

    if (threadIdx.x < kinds) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

// The same for any amount. An SM has an instruction that adds 1 for all lanes of a counter at once.
// For other amounts, lanes of one counter come one after the other.
__global__ void addPerBlock(const int* events, std::size_t n, unsigned kinds, int amount,
                            int* sums) {
    __shared__ int own[kMaxKinds];
    if (threadIdx.x < kinds) own[threadIdx.x] = 0;
    __syncthreads();

    for (std::size_t i = globalThread(); i < n; i += threadsInGrid()) {
        int* const counter = own + events[i];
        atomicAdd(counter, amount);
    }
    __syncthreads();

    if (threadIdx.x < kinds) atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}

// Each lane adds to a copy of its own, in a bank of its own: no two lanes of a warp ever collide.
// (Other warps use the same copies, so the additions stay atomic.) In the end, a warp adds up the
// 32 copies of a counter.
__global__ void addPerLane(const int* events, std::size_t n, unsigned kinds, int amount,
                           int* sums) {
    __shared__ int own[kMaxKinds * kWarp];
    const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    const unsigned warps = blockDim.x / kWarp;
    for (unsigned kind = warp; kind < kinds; kind += warps) own[kind * kWarp + lane] = 0;
    __syncthreads();

    for (std::size_t i = globalThread(); i < n; i += threadsInGrid()) {
        int* const counter = own + events[i] * kWarp + lane;
        atomicAdd(counter, amount);
    }
    __syncthreads();

    for (unsigned kind = warp; kind < kinds; kind += warps) {
#if __CUDA_ARCH__ >= 800
        const int sum = __reduce_add_sync(lab::kAllLanes, own[kind * kWarp + lane]);
#else  // GPUs before Ampere add with shuffles
        const int sum = lab::sumOfWarp(own[kind * kWarp + lane]);
#endif
        if (lane == 0) atomicAdd(&sums[kind], sum);
    }
}

// Each block has counters of its own in global memory, so even the scope of a block is enough.
template <cuda::std::memory_order kOrder, cuda::thread_scope kScope>
__device__ void countOwn(const int* events, std::size_t n, unsigned kinds, int* counts) {
    int* const own = counts + std::size_t{blockIdx.x} * kinds;
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid())
        cuda::atomic_ref<int, kScope>(own[events[i]]).fetch_add(1, kOrder);
}

// Relaxed says nothing about other accesses: enough to count. The scope says who takes part: the
// threads of the block, of the GPU, or of all GPUs and the host.
__global__ void relaxedBlock(const int* events, std::size_t n, unsigned kinds, int* counts) {
    countOwn<cuda::std::memory_order_relaxed, cuda::thread_scope_block>(events, n, kinds, counts);
}
__global__ void relaxedDevice(const int* events, std::size_t n, unsigned kinds, int* counts) {
    countOwn<cuda::std::memory_order_relaxed, cuda::thread_scope_device>(events, n, kinds, counts);
}
__global__ void relaxedSystem(const int* events, std::size_t n, unsigned kinds, int* counts) {
    countOwn<cuda::std::memory_order_relaxed, cuda::thread_scope_system>(events, n, kinds, counts);
}

// Acquire: the thread's later loads must not come from an old copy in L1. Release: what the thread
// has written before must be visible first. Sequentially consistent: both, and all such operations
// have one order that all threads see. The default of cuda::atomic_ref is the dearest of all:
// sequentially consistent, for the whole system.
__global__ void acquireDevice(const int* events, std::size_t n, unsigned kinds, int* counts) {
    countOwn<cuda::std::memory_order_acquire, cuda::thread_scope_device>(events, n, kinds, counts);
}
__global__ void releaseDevice(const int* events, std::size_t n, unsigned kinds, int* counts) {
    countOwn<cuda::std::memory_order_release, cuda::thread_scope_device>(events, n, kinds, counts);
}
__global__ void seqCstDevice(const int* events, std::size_t n, unsigned kinds, int* counts) {
    countOwn<cuda::std::memory_order_seq_cst, cuda::thread_scope_device>(events, n, kinds, counts);
}
__global__ void seqCstSystem(const int* events, std::size_t n, unsigned kinds, int* counts) {
    countOwn<cuda::std::memory_order_seq_cst, cuda::thread_scope_system>(events, n, kinds, counts);
}

// There is no atomicMax() for floats. A thread that has nothing larger is done after one load, and
// hardly any thread has something larger after the first few events.
__global__ void largestCas(const float* readings, std::size_t n, float* largest) {
    const cuda::atomic_ref<float, cuda::thread_scope_device> most(*largest);
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid()) {
        const float reading = readings[i];
        float seen = most.load(cuda::std::memory_order_relaxed);
        while (seen < reading &&
               !most.compare_exchange_weak(seen, reading, cuda::std::memory_order_relaxed)) {
        }
    }
}

// Positive floats have the same order as their bits have as integers, and there is an atomicMax()
// for integers. (The address is the same for all threads: the compiler lets one lane do it.)
__global__ void largestBits(const float* readings, std::size_t n, float* largest) {
    for (std::size_t i = globalThread(); i < n; i += threadsInGrid())
        atomicMax(reinterpret_cast<int*>(largest), __float_as_int(readings[i]));
}

// Block b waits until the flag says b, adds to data that the block before it has written, and lets
// the next block go. `data` is plain memory. The flag's release and acquire order it: who sees the
// flag also sees all that was written before it.
__global__ void handOver(unsigned* flag, unsigned* data) {
    const cuda::atomic_ref<unsigned, cuda::thread_scope_device> turn(*flag);
    if (threadIdx.x == 0)
        while (turn.load(cuda::std::memory_order_acquire) != blockIdx.x) {
        }
    __syncthreads();  // the other threads wait for thread 0

    data[threadIdx.x] += blockIdx.x;

    __syncthreads();  // thread 0 waits for the others
    if (threadIdx.x == 0) turn.store(blockIdx.x + 1, cuda::std::memory_order_release);
}

// 32 events in a row have each kind equally often, in an order of their own.
std::vector<int> eventsOf(std::size_t size, unsigned kinds, std::uint64_t seed) {
    std::vector<int> events(size);
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t random = lab::randomBits(seed, i / kWarp);
        const std::uint64_t place = (i * (random % kWarp | 1) + random / kWarp) % kWarp;
        events[i] = static_cast<int>(place % kinds);
    }
    return events;
}

// CPU reference.
std::vector<int> counted(const std::vector<int>& events, unsigned kinds) {
    std::vector<int> counts(kinds);
    for (const int kind : events) ++counts[kind];
    return counts;
}

int main(int argc, char** argv) {
    std::size_t size;
    unsigned mostKinds, block, hops;
    lab::Exercise exercise("atomics", "Counts events with ever fewer atomic operations.");
    exercise.option("size", &size, {1 << 24, 1 << 14}, 1, 1 << 30, "number of events");
    exercise.option("kinds", &mostKinds, {kMaxKinds, 4}, 1, kMaxKinds,
                    "kinds of events: 1, 2, 4 and so on, up to this", lab::Rule::kPowerOfTwo);
    exercise.option("block", &block, 256, kWarp, lab::kMaxBlock, "threads per block",
                    lab::Rule::kPowerOfTwo);
    exercise.option("hops", &hops, {128, 8}, 1, 1024,
                    "blocks of handOver, if so many are resident");
    exercise.parse(argc, argv);
    exercise.columns(lab::Columns::kTimed,
                     {{"kinds", 5, "kinds"},
                      {"global", 11, "global_atomics", lab::OwnColumn::kPredicted},
                      {"shared", 11, "shared_atomics", lab::OwnColumn::kPredicted},
                      {"per cycle", 9, "per_cycle", lab::OwnColumn::kOnGpu}},
                     {"block"});
    exercise.title("%s events, up to %u kinds, block %u", lab::withCommas(size).c_str(), mostKinds,
                   block);

    // No more blocks than the GPU holds at a time: each goes through its share of the events.
    const unsigned resident = exercise.device().residentBlocks(block);
    const unsigned grid = std::min(lab::blocksFor(size, block), resident);
    lab::DeviceBuffer<int> source(size);
    lab::DeviceBuffer<int> total(kApart * kMaxKinds), ofBlocks(std::size_t{grid} * mostKinds);
    lab::DeviceBuffer<int> first(kMaxKinds);
    lab::DeviceBuffer<float> floats(kMaxKinds);
    const int* const events = source.get();
    int* const counts = total.get();

    const auto perCycle = [&](const lab::Statistics& time, std::size_t counted) {
        const double cycles = time.median * 1e-3 * exercise.device().clock;
        return cycles > 0 ? lab::Cell(static_cast<double>(counted) / cycles, 4) : lab::Cell();
    };
    // What threads do, as predicted; no number where nobody knows it.
    struct Atomics {
        lab::Cell global, shared;
    };

    lab::Ladder ladder(exercise, total, [&] {
        total.fillBytes(0);
        ofBlocks.fillBytes(0);
        floats.fillBytes(0);
        first.fillBytes(lab::poisonByte<int>());
    });
    for (unsigned kinds = 1; kinds <= mostKinds; kinds *= 2) {
        const std::vector<int> input = eventsOf(size, kinds, exercise.seed());
        const std::vector<int> expected = counted(input, kinds);
        source.copyFrom(input);
        const std::size_t rest = size % kWarp;  // events of the last warp, if it has fewer than 32
        const std::size_t ofWarps = size / kWarp * kinds + std::min<std::size_t>(kinds, rest);
        const std::size_t atEnd = std::size_t{grid} * kinds;
        const auto rung = [&](const char* kernel, const Atomics& atomics, const auto& wrongOf,
                              const lab::Launch& launch) {
            const auto check = [&](const lab::Statistics& time) -> lab::Finding {
                return {wrongOf(), {kinds, atomics.global, atomics.shared, perCycle(time, size)}};
            };
            const std::string parameters =
                exercise.parameters({{"kinds", std::to_string(kinds)}}) + " part=count";
            ladder.rung({kernel, parameters}, grid, block, lab::kNoRate, check, launch);
        };
        const auto areCounts = [&] { return lab::mismatch(total.toHost(kinds), expected); };
        const auto areApart = [&] {
            std::vector<int> apart(total.size());
            for (unsigned kind = 0; kind < kinds; ++kind) apart[kApart * kind] = expected[kind];
            return lab::mismatch(total.toHost(), apart);
        };
        const auto areFirst = [&] {
            const std::vector<int> found = first.toHost(kinds);
            for (unsigned kind = 0; kind < kinds; ++kind) {
                const auto at = static_cast<std::size_t>(found[kind]);
                if (expected[kind] > 0 && (at >= size || input[at] != static_cast<int>(kind)))
                    return lab::formatted("kind %u: event %d is none of it", kind, found[kind]);
            }
            return areCounts();
        };
        const auto areFloats = [&] {
            std::vector<float> sums;
            for (const int count : expected) sums.push_back(std::min(count, 1 << 24));
            return lab::mismatch(floats.toHost(kinds), sums, 0);
        };

        if (kinds == 1)
            rung("countOne", Atomics{ofWarps, 0}, areCounts,
                 [&] { countOne<<<grid, block>>>(events, size, counts); });
        rung("countEach", Atomics{size, 0}, areCounts,
             [&] { countEach<<<grid, block>>>(events, size, counts); });
        rung("countApart", Atomics{size, 0}, areApart,
             [&] { countApart<<<grid, block>>>(events, size, counts); });
        rung("findFirst", Atomics{size, 0}, areFirst,
             [&] { findFirst<<<grid, block>>>(events, size, counts, first.get()); });
        rung("countFloat", Atomics{size, 0}, areFloats,
             [&] { countFloat<<<grid, block>>>(events, size, floats.get()); });
        // With all events it would take minutes.
        const std::size_t few = std::min(size, kFewEvents);
        const auto areFew = [&](const lab::Statistics& time) -> lab::Finding {
            const std::vector<int> counting(input.begin(), input.begin() + few);
            return {lab::mismatch(total.toHost(kinds), counted(counting, kinds)),
                    {kinds, lab::Cell(), 0, perCycle(time, few)}};
        };
        const unsigned fewBlocks = lab::blocksFor(few, block);
        const lab::Options::Values ofFew = {{"size", std::to_string(few)},
                                            {"kinds", std::to_string(kinds)}};
        ladder.rung({"casLoop", exercise.parameters(ofFew) + " part=cas"}, fewBlocks, block,
                    lab::kNoRate, areFew,
                    [&] { casLoop<<<fewBlocks, block>>>(events, few, counts); });
        rung("countPerWarp", Atomics{ofWarps, 0}, areCounts,
             [&] { countPerWarp<<<grid, block>>>(events, size, counts); });
        rung("countPerBlock", Atomics{atEnd, size}, areCounts,
             [&] { countPerBlock<<<grid, block>>>(events, size, kinds, counts); });
        rung("addPerBlock", Atomics{atEnd, size}, areCounts,
             [&] { addPerBlock<<<grid, block>>>(events, size, kinds, 1, counts); });
        rung("addPerLane", Atomics{atEnd, size}, areCounts,
             [&] { addPerLane<<<grid, block>>>(events, size, kinds, 1, counts); });
    }

    // The events of the last round are still there: of mostKinds kinds.
    const std::vector<int> expected =
        counted(eventsOf(size, mostKinds, exercise.seed()), mostKinds);
    const auto order = [&](const char* kernel, auto* launched) {
        const auto check = [&](const lab::Statistics& time) -> lab::Finding {
            std::vector<int> sums(mostKinds);
            const std::vector<int> all = ofBlocks.toHost();
            for (std::size_t i = 0; i < all.size(); ++i) sums[i % mostKinds] += all[i];
            return {lab::mismatch(sums, expected), {mostKinds, size, 0, perCycle(time, size)}};
        };
        const std::string parameters = exercise.parameters() + " part=order";
        ladder.rung({kernel, parameters}, grid, block, lab::kNoRate, check,
                    [&] { launched<<<grid, block>>>(events, size, mostKinds, ofBlocks.get()); });
    };
    order("relaxedBlock", relaxedBlock);
    order("relaxedDevice", relaxedDevice);
    order("relaxedSystem", relaxedSystem);
    order("acquireDevice", acquireDevice);
    order("releaseDevice", releaseDevice);
    order("seqCstDevice", seqCstDevice);
    order("seqCstSystem", seqCstSystem);

    const std::vector<float> readings = lab::randomFloats(size, exercise.seed(), 0, 1);
    const std::vector<float> mostOf = {*std::max_element(readings.begin(), readings.end())};
    const lab::DeviceBuffer<float> measured(readings);
    const auto largest = [&](const char* kernel, lab::Cell atomics, const lab::Launch& launch) {
        const auto check = [&](const lab::Statistics& time) -> lab::Finding {
            return {lab::mismatch(floats.toHost(1), mostOf, 0),
                    {1, atomics, 0, perCycle(time, size)}};
        };
        const std::string parameters = exercise.parameters() + " part=largest";
        ladder.rung({kernel, parameters}, grid, block, lab::kNoRate, check, launch);
    };
    largest("largestCas", lab::Cell(),
            [&] { largestCas<<<grid, block>>>(measured.get(), size, floats.get()); });
    largest("largestBits", lab::blocksFor(size, kWarp),
            [&] { largestBits<<<grid, block>>>(measured.get(), size, floats.get()); });

    // All blocks are resident, so each that waits gets what it waits for.
    hops = std::min(hops, resident);
    lab::DeviceBuffer<unsigned> flag(1), data(block);
    lab::Ladder chain(exercise, data, [&] {
        flag.fillBytes(0);
        data.fillBytes(0);
    });
    const auto hasAll = [&]() -> lab::Finding {
        const std::vector<unsigned> sums(block, hops * (hops - 1) / 2);
        return {lab::mismatch(data.toHost(), sums), {lab::Cell(), 0, 0, lab::Cell()}};
    };
    chain.rung({"handOver", exercise.parameters() + " part=chain"}, hops, block, lab::kNoRate,
               hasAll, [&] { handOver<<<hops, block>>>(flag.get(), data.get()); });
    return exercise.finish();
}
