// Copies between host and device, and the kinds of host memory that they start from. The GPU's copy
// engines use physical addresses, so they can only reach host memory that stays where it is: pinned
// memory, also called page-locked. Memory from malloc() is pageable. The driver copies it piece by
// piece through pinned buffers of its own.
//
//   1 pageable       malloc()
//   2 registered     malloc(), pinned afterwards with cudaHostRegister()
//   3 pinned         cudaMallocHost()
//   4 writeCombined  cudaHostAlloc(cudaHostAllocWriteCombined): pinned, and not in the CPU's caches
//
// The table has a row for each kind of memory and each thing that the program does with it:
//   Allocation       the host allocates and frees memory. After malloc(), it writes to each page
//   HostReads        the host reads the first 4 MiB, without the GPU
//   ToDevice         a copy from the host to the device
//   ToHost           a copy from the device to the host
//   BothWays         one copy in each direction, in two streams: GB/s counts both
//
// Three more rows:
//   pageablePieces   many small arrays go to the device, each with a copy of its own
//   pinnedPacked     the host packs the small arrays into one pinned buffer, and copies that once
//   doubleOnDevice   a kernel that reads and writes as many bytes in device memory
//
// Columns:
//   call             the time until cudaMemcpyAsync() returns. The copy may still be running
//   one int          the time of such a copy of one integer: the latency
//   half at          the size that reaches half of the rate, if time = latency + bytes / rate
//   pays after       the number of copies after which the more expensive allocation has paid
//
//   ./lab run hostTransfer -- --size=16M
//   ./lab test hostTransfer
//   ./lab trace hostTransfer
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target hostTransfer
//   build/ch04_memory/hostTransfer --size=16M
//   nsys profile build/ch04_memory/hostTransfer --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/hostTransfer/hostTransfer.cu
//       common/*.cpp common/*.cu -o build/hostTransfer

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "lab.cuh"
#include "transferRows.cuh"

constexpr unsigned kBlock = 256;
constexpr std::size_t kReadAtMost = 1 << 20;  // ints, because reading can be slow
constexpr int kPoison = -1234567;             // differs from all numbers

struct Kind {
    const char* name;
    cudaMemoryType type;  // what cudaPointerGetAttributes() says about such memory
    void* (*allocate)(std::size_t bytes);
    void (*release)(void* memory);
};

// malloc() only reserves addresses. The first write to each page makes the operating system provide
// the page.
void* allocatePageable(std::size_t bytes) {
    constexpr std::size_t kPage = 4096;
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) lab::quitWithoutMemory(bytes, "host", lab::freeHostBytes());
    volatile char* const pages = static_cast<char*>(memory);
    for (std::size_t at = 0; at < bytes; at += kPage) pages[at] = 0;
    return memory;
}

// Pins the pages of memory that exists already, where they are.
void* allocateRegistered(std::size_t bytes) {
    void* const memory = allocatePageable(bytes);
    CUDA_CHECK(cudaHostRegister(memory, bytes, cudaHostRegisterDefault));
    return memory;
}
void releaseRegistered(void* memory) {
    CUDA_CHECK(cudaHostUnregister(memory));
    std::free(memory);
}

void* allocatePinned(std::size_t bytes) {
    void* memory = nullptr;
    CUDA_CHECK(cudaMallocHost(&memory, bytes));
    return memory;
}
void releasePinned(void* memory) {
    CUDA_CHECK(cudaFreeHost(memory));
}

// The CPU collects what it writes in whole lines, and sends them to memory without caching them.
// Reads are not cached either, so they are slow.
void* allocateWriteCombined(std::size_t bytes) {
    void* memory = nullptr;
    CUDA_CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocWriteCombined));
    return memory;
}

constexpr Kind kPageable = {"pageable", cudaMemoryTypeUnregistered, allocatePageable, std::free};
constexpr Kind kRegistered = {"registered", cudaMemoryTypeHost, allocateRegistered,
                              releaseRegistered};
constexpr Kind kPinned = {"pinned", cudaMemoryTypeHost, allocatePinned, releasePinned};
constexpr Kind kWriteCombined = {"writeCombined", cudaMemoryTypeHost, allocateWriteCombined,
                                 releasePinned};

// Owns `count` ints in one kind of memory.
class HostMemory {
  public:
    HostMemory(const Kind& kind, std::size_t count)
        : kind_(kind), memory_(static_cast<int*>(kind.allocate(count * sizeof(int)))) {}
    ~HostMemory() { kind_.release(memory_); }
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    int* get() const { return memory_; }

    // Says what is wrong if CUDA takes the memory for another kind; else empty.
    std::string mistaken() const {
        cudaPointerAttributes attributes;
        CUDA_CHECK(cudaPointerGetAttributes(&attributes, memory_));
        if (attributes.type == kind_.type) return "";
        return kind_.type == cudaMemoryTypeHost ? "CUDA says: not pinned" : "CUDA says: pinned";
    }

  private:
    const Kind& kind_;
    int* const memory_;
};

// Two streams, so that two copies can run at the same time. Work in both streams begins when the
// default stream has reached fork(). The default stream continues after join() when both are done.
struct TwoStreams {
    cudaStream_t in = nullptr, out = nullptr;
    cudaEvent_t begin = nullptr, inDone = nullptr, outDone = nullptr;

    TwoStreams() {
        for (cudaStream_t* const stream : {&in, &out})
            CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
        for (cudaEvent_t* const event : {&begin, &inDone, &outDone})
            CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    }
    ~TwoStreams() {
        for (const cudaEvent_t event : {begin, inDone, outDone}) cudaEventDestroy(event);
        for (const cudaStream_t stream : {in, out}) cudaStreamDestroy(stream);
    }
    TwoStreams(const TwoStreams&) = delete;
    TwoStreams& operator=(const TwoStreams&) = delete;

    void fork() const {
        CUDA_CHECK(cudaEventRecord(begin));
        for (const cudaStream_t stream : {in, out}) CUDA_CHECK(cudaStreamWaitEvent(stream, begin));
    }
    void join() const {
        CUDA_CHECK(cudaEventRecord(inDone, in));
        CUDA_CHECK(cudaEventRecord(outDone, out));
        for (const cudaEvent_t event : {inDone, outDone})
            CUDA_CHECK(cudaStreamWaitEvent(nullptr, event));
    }
};

// One of many small arrays, which lie at different places of the host's memory.
struct Piece {
    const int* values;
    std::size_t count;
};

// How often copyToDevice() was called.
unsigned copiesToDevice = 0;

// Copies `count` ints to the device. When it returns, the caller may change what it has copied.
void copyToDevice(int* to, const int* from, std::size_t count) {
    CUDA_CHECK(cudaMemcpy(to, from, count * sizeof(int), cudaMemcpyHostToDevice));
    ++copiesToDevice;
}

// Sends each piece with a copy of its own. The pieces are pageable, and each copy has its latency.
void pageablePieces(const std::vector<Piece>& pieces, int* onDevice) {
    for (const Piece& piece : pieces) {
        copyToDevice(onDevice, piece.values, piece.count);
        onDevice += piece.count;
    }
}

// Packs the pieces into pinned memory, and sends all of them with one copy. The CPU copies each
// byte once more, but there is only one latency.
void pinnedPacked(const std::vector<Piece>& pieces, int* staging, int* onDevice) {
    std::size_t packed = 0;
    for (const Piece& piece : pieces) {
        std::copy(piece.values, piece.values + piece.count, staging + packed);
        packed += piece.count;
    }
    copyToDevice(onDevice, staging, packed);
}

// Cuts the numbers into pieces of 1 to 2,047 ints, the last piece first. So they do not lie behind
// each other in memory.
std::vector<Piece> inPieces(const std::vector<int>& numbers) {
    constexpr std::size_t kMost = 2047, kStep = 997;  // without a common factor: all lengths come
    std::vector<Piece> pieces;
    for (std::size_t end = numbers.size(); end > 0;) {
        const std::size_t count = std::min(1 + pieces.size() * kStep % kMost, end);
        end -= count;
        pieces.push_back({numbers.data() + end, count});
    }
    return pieces;
}

// Reads and writes device memory only, for comparison with the copies.
__global__ void doubleOnDevice(const int* __restrict__ in, int* __restrict__ out,
                               std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size) out[i] = 2 * in[i];
}

int main(int argc, char** argv) {
    std::size_t size;
    lab::Exercise exercise("hostTransfer", "What a copy between host and device costs.");
    exercise.option("size", &size, {1 << 22, 1 << 12}, 1, lab::kMaxSize, "number of ints");
    exercise.parse(argc, argv);

    const std::vector<int> numbers = lab::randomInts(size, exercise.seed(), -1000, 1000);
    const std::vector<int> others = lab::randomInts(size, exercise.seed() + 1, -1000, 1000);
    const lab::DeviceBuffer<int> source(others);  // the source of copies to the host
    lab::DeviceBuffer<int> target(size);          // the target of copies to the device
    const std::size_t bytes = source.bytes();
    exercise.title("%s ints (%s)", lab::withCommas(size).c_str(), lab::inBytes(bytes).c_str());
    exercise.noteInEmulation(
        "The emulation has no link to copy over: rates and latencies are left out.");
    if (exercise.timesCount())
        exercise.note("call, one int: us, half at: KiB, pays: after so many copies");

    using transfer::kBothWays, transfer::kOneWay;
    transfer::Rows rows(exercise, bytes);
    const TwoStreams streams;

    lab::requireHostMemory(2 * size, sizeof(int));  // asks once: that takes longer than malloc()
    for (const Kind* const kind : {&kPageable, &kRegistered, &kPinned, &kWriteCombined}) {
        rows.allocation(
            kind->name, [&] { return HostMemory(*kind, size).mistaken(); },
            [&] { const HostMemory memory(*kind, size); });

        const HostMemory from(*kind, size), to(*kind, size);
        std::copy(numbers.begin(), numbers.end(), from.get());
        std::vector<int> read(std::min(size, kReadAtMost), kPoison);
        const auto isRead = [&] {
            return lab::mismatch(read, {numbers.begin(), numbers.begin() + read.size()});
        };
        rows.host(kind->name, "HostReads", read.size() * sizeof(int), isRead,
                  [&] { std::copy_n(from.get(), read.size(), read.begin()); });

        const auto poison = [&] {
            target.fillBytes(lab::poisonByte<int>());
            std::fill_n(to.get(), size, kPoison);
        };
        const auto onDevice = [&] { return lab::mismatch(target, numbers); };
        const auto onHost = [&] {
            return lab::mismatchOf(to.get(), size, [&](std::size_t i) { return others[i]; });
        };

        rows.copies(kind->name, "ToDevice", kOneWay, poison, onDevice, [&](std::size_t count) {
            CUDA_CHECK(cudaMemcpyAsync(target.get(), from.get(), count, cudaMemcpyHostToDevice));
        });
        if (kind == &kWriteCombined) continue;  // the host does not read results from there

        rows.copies(kind->name, "ToHost", kOneWay, poison, onHost, [&](std::size_t count) {
            CUDA_CHECK(cudaMemcpyAsync(to.get(), source.get(), count, cudaMemcpyDeviceToHost));
        });
        const auto onBoth = [&] {
            const std::string wrong = onDevice();
            return wrong.empty() ? onHost() : wrong;
        };
        rows.copies(kind->name, "BothWays", kBothWays, poison, onBoth, [&](std::size_t count) {
            streams.fork();
            CUDA_CHECK(cudaMemcpyAsync(target.get(), from.get(), count, cudaMemcpyHostToDevice,
                                       streams.in));
            CUDA_CHECK(cudaMemcpyAsync(to.get(), source.get(), count, cudaMemcpyDeviceToHost,
                                       streams.out));
            streams.join();
        });
    }

    const std::vector<Piece> pieces = inPieces(numbers);
    std::vector<int> expected;
    expected.reserve(size);
    for (const Piece& piece : pieces)
        expected.insert(expected.end(), piece.values, piece.values + piece.count);
    const auto haveArrived = [&] { return lab::mismatch(target, expected); };
    target.fillBytes(lab::poisonByte<int>());
    rows.host("pageable", "Pieces", bytes, haveArrived, [&] {
        pageablePieces(pieces, target.get());
        CUDA_CHECK(cudaDeviceSynchronize());
    });

    const HostMemory staging(kPinned, size);
    const auto inOneCopy = [&] {
        const std::string wrong = haveArrived();
        if (!wrong.empty() || copiesToDevice == 1) return wrong;
        return lab::formatted("%u calls of copyToDevice(), where one is enough", copiesToDevice);
    };
    target.fillBytes(lab::poisonByte<int>());
    rows.host("pinned", "Packed", bytes, inOneCopy, [&] {
        copiesToDevice = 0;
        pinnedPacked(pieces, staging.get(), target.get());
        CUDA_CHECK(cudaDeviceSynchronize());
    });

    const auto doubled = [&](std::size_t i) { return 2 * others[i]; };
    const auto isDoubled = [&](const lab::Statistics& time) -> lab::Finding {
        return {lab::mismatchOf(target, doubled), {bytes, transfer::Rows::gbps(2 * bytes, time)}};
    };
    const unsigned grid = lab::blocksFor(size, kBlock);
    lab::Ladder ladder(exercise, target);
    const lab::Name name("doubleOnDevice", exercise.parameters() + " memory=device what=Kernel");
    ladder.rung(name, grid, kBlock, lab::kNoRate, isDoubled,
                [&] { doubleOnDevice<<<grid, kBlock>>>(source.get(), target.get(), size); });
    return exercise.finish();
}
