// Managed memory: one allocation, one pointer for host and device, and pages that move to whoever
// touches them. Adds two matrices that the host has filled, and the host looks at all three:
//
//   1 copies           no managed memory: cudaMalloc() on one side, copies in and out
//   2 managed          as it is: kernel and host wait for a page whenever they meet one elsewhere
//   3 managedPrefetch  asks for the pages before they are needed, many at a time
//   4 managedReadMostly the same, and the host keeps its copy of what nobody writes any more
//   5 managedByKernel  as it is, but a kernel fills the matrices: the device is the first to touch
//
// Each run begins with fresh memory, which nobody has touched. Its time is that of three steps:
// fill A and B; C = A + B, with all copies; the host compares C with A + B.
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

// What stands at index i of a matrix: 24 bits of a hash, as a number from 0 to 1.
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

// Three matrices that host and device share.
class Managed {
  public:
    // No more than the device has free: beyond that, pages that one kernel needs would push each
    // other out.
    explicit Managed(std::size_t count) : bytes_(count * sizeof(float)) {
        std::size_t free = 0, total = 0;
        CUDA_CHECK(cudaMemGetInfo(&free, &total));
        if (bytes_ > free / 3) lab::quitWithoutMemory(3 * bytes_, "managed", free);
        for (float** matrix : {&a, &b, &c}) CUDA_CHECK(cudaMallocManaged(matrix, bytes_));
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

// The same without managed memory: pageable memory of the host, and memory of the device.
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
    const std::unique_ptr<float[]> a, b, c;  // nobody has touched them yet
    lab::DeviceBuffer<float> deviceA, deviceB, deviceC;
};

// The program's three matrices, as the host sees them.
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

    // Fresh memory of the type Memory before each run; `fill` and `add` get it, `host` says where
    // the host finds the matrices in it.
    template <typename Memory, typename Fill, typename Add, typename HostOf>
    void run(const std::string& name, dim3 grid, dim3 block, const Fill& fill, const Add& add,
             const HostOf& hostOf) const {
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
        row.grid = lab::shape(grid);
        row.block = lab::shape(block);
        row.time = exercise_.measure()(name, fresh, threeSteps);
        row.finding.wrong = lab::mismatchOf(hostOf(*memory).c, count_, [&](std::size_t i) {
            return valueAt(i, seed_) + valueAt(i, seed_ + 1);
        });
        if (row.finding.wrong.empty() && differing > 0)
            row.finding.wrong = lab::formatted("%zu elements are not a + b", differing);
        if (exercise_.timesCount()) {
            for (const auto* times : {&fills, &adds, &looks})
                row.finding.cells.push_back({lab::medianOfMeasured(*times, row.time.count), 2});
        }
        exercise_.row(row);
    }

  private:
    // What the host does with the result: reads all three matrices.
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
    const dim3 grid = lab::gridFor(cols, rows, kTile);
    const dim3 block(kTile, kBlockRows);
    const Steps steps(exercise, rows, cols);
    const auto host = [](const auto& memory) -> Host {
        return {&memory.a[0], &memory.b[0], &memory.c[0]};
    };
    const auto fillOnHost = [&](auto& memory) { steps.fillOnHost(&memory.a[0], &memory.b[0]); };

    steps.run<Separate>(
        "copies", grid, block, fillOnHost,
        [&](Separate& m) {
            const std::size_t bytes = m.deviceA.bytes();
            CUDA_CHECK(cudaMemcpy(m.deviceA.get(), m.a.get(), bytes, cudaMemcpyHostToDevice));
            CUDA_CHECK(cudaMemcpy(m.deviceB.get(), m.b.get(), bytes, cudaMemcpyHostToDevice));
            add<<<grid, block>>>(m.deviceA.get(), m.deviceB.get(), m.deviceC.get(), rows, cols);
            CUDA_CHECK(cudaMemcpy(m.c.get(), m.deviceC.get(), bytes, cudaMemcpyDeviceToHost));
        },
        host);
    steps.run<Managed>(
        "managed", grid, block, fillOnHost,
        [&](Managed& m) { add<<<grid, block>>>(m.a, m.b, m.c, rows, cols); }, host);
    const auto addAndPrefetch = [&](Managed& m) {
        for (const float* matrix : {m.a, m.b, m.c}) prefetch(matrix, m.bytes(), onDevice(device));
        add<<<grid, block>>>(m.a, m.b, m.c, rows, cols);
        prefetch(m.c, m.bytes(), onHost());
    };
    steps.run<Managed>("managedPrefetch", grid, block, fillOnHost, addAndPrefetch, host);
    steps.run<Managed>(
        "managedReadMostly", grid, block, fillOnHost,
        [&](Managed& m) {
            for (const float* matrix : {m.a, m.b}) {
                CUDA_CHECK(
                    cudaMemAdvise(matrix, m.bytes(), cudaMemAdviseSetReadMostly, onDevice(device)));
            }
            addAndPrefetch(m);
        },
        host);
    steps.run<Managed>(
        "managedByKernel", grid, block,
        [&](Managed& m) { fill<<<grid, block>>>(m.a, m.b, rows, cols, steps.seed()); },
        [&](Managed& m) { add<<<grid, block>>>(m.a, m.b, m.c, rows, cols); }, host);
    return exercise.finish();
}
