// Managed memory: one allocation and one pointer for host and device, and pages that move to
// whoever touches them. The host fills two matrices, a kernel adds them, and the host reads all
// three.
//
//   1 copies            no managed memory: cudaMalloc(), and copies in and out
//   2 managed           no hints: kernel and host wait for each page that is on the other side
//   3 managedPrefetch   moves the pages before they are needed, many at a time
//   4 managedReadMostly the same, and the host keeps its copy of A and B, which nobody writes again
//   5 managedByKernel   no hints, but a kernel fills the matrices, so the device touches them first
//
// Each run begins with fresh memory that nobody has touched. Its time is that of three steps:
//   fill                fills A and B
//   add                 C = A + B, with all copies and prefetches
//   look                the host compares C with A + B
//
//   ./lab run managedMemory -- --rows=8K --cols=8K
//   ./lab test managedMemory
//   ./lab profile managedMemory
//   ./lab trace managedMemory       # counts the page faults
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target managedMemory
//   build/ch04_memory/managedMemory --rows=8K --cols=8K
//   nsys profile --cuda-um-gpu-page-faults=true build/ch04_memory/managedMemory --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/managedMemory/managedMemory.cu
//       common/*.cpp common/*.cu -o build/managedMemory

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lab.cuh"
#include "memoryHints.cuh"

constexpr unsigned kTile = 32;  // columns of a block
constexpr unsigned kBlockRows = 8;
constexpr std::size_t kLargestPage = 2 << 20;  // bytes

// The value at index i of a matrix: 24 bits of a hash, as a number from 0 to 1.
__host__ __device__ float valueAt(std::size_t i, unsigned seed) {
    const unsigned bits = (static_cast<unsigned>(i) + seed) * 2654435761u;
    return static_cast<float>((bits ^ (bits >> 15)) & 0xFFFFFF) * 0x1p-24f;
}

__global__ void fill(float* a, float* b, std::size_t rows, std::size_t cols, unsigned seed) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    const std::size_t firstRow = lab::blockY() * kTile + threadIdx.y;
    for (std::size_t row = firstRow; row < firstRow + kTile && row < rows; row += kBlockRows) {
        if (col >= cols) continue;
        const std::size_t i = row * cols + col;
        a[i] = valueAt(i, seed);
        b[i] = valueAt(i, seed + 1);
    }
}

__global__ void add(const float* a, const float* b, float* c, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kTile + threadIdx.x;
    const std::size_t firstRow = lab::blockY() * kTile + threadIdx.y;
    for (std::size_t row = firstRow; row < firstRow + kTile && row < rows; row += kBlockRows) {
        if (col < cols) c[row * cols + col] = a[row * cols + col] + b[row * cols + col];
    }
}

// Three matrices in managed memory.
class Managed {
  public:
    // Allocates no more than the device has free. With more, the pages that one kernel needs would
    // push each other out of device memory.
    explicit Managed(std::size_t count) : bytes_(count * sizeof(float)) {
        std::size_t free = 0, total = 0;
        CUDA_CHECK(cudaMemGetInfo(&free, &total));
        if (bytes_ > free / 3) lab::quitWithoutMemory(3 * bytes_, "managed", free);
        // Each matrix has pages of its own. Small allocations may share one.
        const std::size_t pages = (bytes_ + kLargestPage - 1) / kLargestPage;
        for (float** matrix : {&a, &b, &c})
            CUDA_CHECK(cudaMallocManaged(matrix, pages * kLargestPage));
    }
    ~Managed() {
        for (float* matrix : {a, b, c}) cudaFree(matrix);
    }
    Managed(const Managed&) = delete;
    Managed& operator=(const Managed&) = delete;
    std::size_t bytes() const { return bytes_; }

    float *a = nullptr, *b = nullptr, *c = nullptr;

  private:
    std::size_t bytes_;
};

// The same matrices without managed memory: in pageable host memory, and in device memory.
struct Separate {
    explicit Separate(std::size_t count)
        : a(new float[count]),
          b(new float[count]),
          c(new float[count]),
          deviceA(count),
          deviceB(count),
          deviceC(count) {
        deviceC.fillBytes(lab::poisonByte<float>());
    }
    const std::unique_ptr<float[]> a, b, c;  // not touched yet
    lab::DeviceBuffer<float> deviceA, deviceB, deviceC;
};

// How the kernels are launched: `rows` x `cols` elements, on this device.
struct Sum {
    dim3 grid, block;
    std::size_t rows, cols;
    int device;
};

// Only launches the kernel. It waits for each page of A and B, which are on the host.
void managed(const Managed& m, const Sum& sum) {
    add<<<sum.grid, sum.block>>>(m.a, m.b, m.c, sum.rows, sum.cols);
}

// Moves all three matrices to the device before the kernel needs them, and C to the host after it.
void managedPrefetch(const Managed& m, const Sum& sum) {
    for (const float* matrix : {m.a, m.b, m.c}) prefetch(matrix, m.bytes(), onDevice(sum.device));
    add<<<sum.grid, sum.block>>>(m.a, m.b, m.c, sum.rows, sum.cols);
    prefetch(m.c, m.bytes(), onHost());
}

// Says before that A and B are read-mostly: then host and device both keep a copy of them.
void managedReadMostly(const Managed& m, const Sum& sum) {
    for (const float* matrix : {m.a, m.b}) {
        CUDA_CHECK(
            cudaMemAdvise(matrix, m.bytes(), cudaMemAdviseSetReadMostly, onDevice(sum.device)));
    }
    managedPrefetch(m, sum);
}

// The place to which all of a matrix was last prefetched; cudaInvalidDeviceId if it was not.
int prefetchedTo(const float* matrix, std::size_t bytes) {
    int place = cudaInvalidDeviceId;
    CUDA_CHECK(cudaMemRangeGetAttribute(&place, sizeof place,
                                        cudaMemRangeAttributeLastPrefetchLocation, matrix, bytes));
    return place;
}

// Says what is wrong if A and B are not on the device now, and C on the host; else empty.
std::string notPrefetched(const Managed& m, const Sum& sum) {
    for (const float* matrix : {m.a, m.b}) {
        if (prefetchedTo(matrix, m.bytes()) != sum.device)
            return matrix == m.a ? "A was not prefetched to the device"
                                 : "B was not prefetched to the device";
    }
    const bool onHost = prefetchedTo(m.c, m.bytes()) == cudaCpuDeviceId;
    return onHost ? "" : "C was not prefetched to the host in the end";
}

// Where the host finds the three matrices.
struct Host {
    float *a, *b;
    const float* c;
};

class Steps {
  public:
    Steps(lab::Exercise& exercise, std::size_t rows, std::size_t cols)
        : exercise_(exercise), count_(rows * cols), seed_(static_cast<unsigned>(exercise.seed())) {}

    void fillOnHost(float* a, float* b) const {
        lab::parallelFor(count_, 1 << 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                a[i] = valueAt(i, seed_);
                b[i] = valueAt(i, seed_ + 1);
            }
        });
    }

    unsigned seed() const { return seed_; }

    // Runs the three steps. Each run gets fresh memory of the type Memory. `fill` and `add` are the
    // first two steps, and `hostOf` says where the host finds the matrices. `placesOf` says what is
    // wrong with the places of the pages.
    template <typename Memory, typename Fill, typename Add, typename HostOf>
    void run(
        const std::string& name, const Sum& sum, const Fill& fill, const Add& add,
        const HostOf& hostOf,
        const std::function<std::string(const Memory&)>& placesOf = [](const Memory&) {
            return std::string();
        }) const {
        if (!exercise_.selected(name)) return;
        std::unique_ptr<Memory> memory;
        std::vector<double> fills, adds, looks;
        std::size_t differing = 0;
        const auto fresh = [&] {
            memory.reset();
            memory = std::make_unique<Memory>(count_);
        };
        const auto timed = [](std::vector<double>& times, const auto& step) {
            const lab::CpuTimer timer;
            step();
            CUDA_CHECK(cudaDeviceSynchronize());
            times.push_back(timer.milliseconds());
        };
        const auto threeSteps = [&] {
            timed(fills, [&] { fill(*memory); });
            timed(adds, [&] { add(*memory); });
            timed(looks, [&] { differing = differingFrom(hostOf(*memory)); });
        };

        lab::Row row;
        row.kernel = name;
        row.grid = lab::shape(sum.grid);
        row.block = lab::shape(sum.block);
        row.time = exercise_.measure()(name, fresh, threeSteps);
        row.finding.wrong = lab::mismatchOf(hostOf(*memory).c, count_, [&](std::size_t i) {
            return valueAt(i, seed_) + valueAt(i, seed_ + 1);
        });
        if (row.finding.wrong.empty() && differing > 0)
            row.finding.wrong = lab::formatted("%zu elements are not a + b", differing);
        if (row.finding.wrong.empty()) row.finding.wrong = placesOf(*memory);
        if (exercise_.timesCount()) {
            for (const auto* times : {&fills, &adds, &looks})
                row.finding.cells.push_back({lab::medianOfMeasured(*times, row.time.count), 2});
        }
        exercise_.row(row);
    }

  private:
    // Reads all three matrices on the host.
    std::size_t differingFrom(const Host& host) const {
        std::size_t differing = 0;
        for (std::size_t i = 0; i < count_; ++i) differing += host.c[i] != host.a[i] + host.b[i];
        return differing;
    }

    lab::Exercise& exercise_;
    std::size_t count_;
    unsigned seed_;
};

int main(int argc, char** argv) {
    std::size_t rows, cols;
    lab::Exercise exercise("managedMemory", "Adds matrices in memory of host and device.");
    exercise.option("rows", &rows, {2048, 128}, 1, lab::kMaxSize, "rows of the matrices");
    exercise.option("cols", &cols, {2048, 128}, 1, lab::kMaxSize, "columns of the matrices");
    exercise.parse(argc, argv);
    exercise.requireElements(rows, cols);
    const std::size_t count = rows * cols;
    lab::requireHostMemory(count, 4 * sizeof(float));
    exercise.title("%s x %s floats (3 times %s)", lab::withCommas(rows).c_str(),
                   lab::withCommas(cols).c_str(), lab::inBytes(count * sizeof(float)).c_str());
    exercise.columns(lab::Columns::kTimed, {{"fill", 7, "fill_ms", lab::OwnColumn::kOnGpu},
                                            {"add", 7, "add_ms", lab::OwnColumn::kOnGpu},
                                            {"look", 7, "look_ms", lab::OwnColumn::kOnGpu}});

    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    const Sum sum = {lab::gridFor(cols, rows, kTile), dim3(kTile, kBlockRows), rows, cols, device};
    const Steps steps(exercise, rows, cols);
    const auto host = [](const auto& memory) -> Host {
        return {&memory.a[0], &memory.b[0], &memory.c[0]};
    };
    const auto fillOnHost = [&](auto& memory) { steps.fillOnHost(&memory.a[0], &memory.b[0]); };
    const auto places = [&](const Managed& m) { return notPrefetched(m, sum); };

    steps.run<Separate>(
        "copies", sum, fillOnHost,
        [&](Separate& m) {
            const std::size_t bytes = m.deviceA.bytes();
            CUDA_CHECK(cudaMemcpy(m.deviceA.get(), m.a.get(), bytes, cudaMemcpyHostToDevice));
            CUDA_CHECK(cudaMemcpy(m.deviceB.get(), m.b.get(), bytes, cudaMemcpyHostToDevice));
            add<<<sum.grid, sum.block>>>(m.deviceA.get(), m.deviceB.get(), m.deviceC.get(), rows,
                                         cols);
            CUDA_CHECK(cudaMemcpy(m.c.get(), m.deviceC.get(), bytes, cudaMemcpyDeviceToHost));
        },
        host);
    steps.run<Managed>("managed", sum, fillOnHost, [&](Managed& m) { managed(m, sum); }, host);
    steps.run<Managed>(
        "managedPrefetch", sum, fillOnHost, [&](Managed& m) { managedPrefetch(m, sum); }, host,
        places);
    steps.run<Managed>(
        "managedReadMostly", sum, fillOnHost, [&](Managed& m) { managedReadMostly(m, sum); }, host,
        places);
    steps.run<Managed>(
        "managedByKernel", sum,
        [&](Managed& m) { fill<<<sum.grid, sum.block>>>(m.a, m.b, rows, cols, steps.seed()); },
        [&](Managed& m) { managed(m, sum); }, host);
    return exercise.finish();
}
