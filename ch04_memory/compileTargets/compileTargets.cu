// What nvcc leaves in a program's file: machine code for some GPUs, PTX that the driver can compile
// for later ones, or both.
//
// Two kernels predict which code of a file a GPU uses. A thread stands for one start of a program:
//
//   1 forcedStart        PTX alone, as CUDA_FORCE_PTX_JIT=1 makes the driver do
//   2 defaultStart       machine code where it can, else PTX
//
// On a GPU, the program also starts one kernel that nvcc has compiled five times from one source:
//
//   3 ptxOld             PTX for the oldest architecture that nvcc knows: runs on all later GPUs
//   4 machineCode        machine code for this build's GPUs: runs within their generation
//   5 machineCodeAndPtx  both, which is what you would give to others
//   6 otherMachineCode   machine code for another generation: does not run
//   7 ptxNew             PTX for the newest architecture: does not run on older GPUs
//
//   in the file   the code that the file carries
//   runs          what the GPU uses of it; for 1 and 2, how many of all starts run
//   first         the first launch in a new process, in ms: the driver's cache is empty
//   again         the same in a second process, with the cache that the first one has left
//   off           with CUDA_CACHE_DISABLE=1
//   forced        with CUDA_FORCE_PTX_JIT=1 and an empty cache
//
//   ./lab run compileTargets
//   ./lab test compileTargets
//   ./lab profile compileTargets
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target compileTargets
//   build/ch04_memory/compileTargets
//   cuobjdump --list-elf --list-ptx build/ch04_memory/compileTargets
//
// Without CMake the program has kernels 1 and 2 alone (each target takes an nvcc of its own, and
// exercise.cmake has the options). After `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/compileTargets/compileTargets.cu
//       common/*.cpp common/*.cu -o build/compileTargets

#include "compileTargets.h"

#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compileRules.h"
#include "lab.cuh"

constexpr unsigned kBlock = 256;

// ---- predictions ----

constexpr int kNothing = -1;
constexpr unsigned kPtxWords = 256;  // length of a file's PTX

// What became of a start. `used` is the code, as asNumber() has it; `compiled` is a sum over the
// PTX where the driver has compiled it, else 0.
struct Start {
    int used;
    unsigned compiled;
};

__host__ __device__ inline int asNumber(const Code& code) {
    return static_cast<int>(2 * code.capability + (code.machine ? 1 : 0));
}

// The index of the code that a GPU uses of this file if it must not use machine code; kNothing if
// there is none.
__device__ int newestPtx(unsigned gpu, const File& file) {
    int newest = kNothing;
    unsigned capability = 0;
    for (unsigned i = 0; i < file.count; ++i) {
        const Code code = file.code[i];
        if (code.machine || code.capability > gpu || code.capability <= capability) continue;
        newest = static_cast<int>(i);
        capability = code.capability;
    }
    return newest;
}

// The index of the code that a GPU uses of this file by default; kNothing if there is none. Machine
// code needs no compiler, so it comes before all PTX. Of each kind, the newest comes first.
__device__ int chosenBy(unsigned gpu, const File& file) {
    int best = kNothing;
    unsigned bestRank = 0;
    for (unsigned i = 0; i < file.count; ++i) {
        const Code code = file.code[i];
        const bool sameGeneration = code.capability / 10 == gpu / 10;
        if (code.capability > gpu || (code.machine && !sameGeneration)) continue;
        const unsigned rank = code.capability + (code.machine ? 1000 : 0);
        if (rank > bestRank) {
            best = static_cast<int>(i);
            bestRank = rank;
        }
    }
    return best;
}

// Starts the program with this code. If it is PTX, it has to be compiled first, which begins with
// reading all of it. That costs far more than the choice.
__device__ Start startWith(int chosen, const File& file, const unsigned* ptx) {
    if (chosen == kNothing) return {kNothing, 0};
    const Code code = file.code[chosen];
    unsigned sum = 0;
    if (!code.machine) {
        for (unsigned word = 0; word < kPtxWords; ++word) sum += ptx[word];
    }
    return {asNumber(code), sum};
}

// CUDA_FORCE_PTX_JIT=1: the driver ignores machine code. Still wrong for daily use: every start
// waits for the compiler, and a file without PTX does not start.
__global__ void forcedStart(const unsigned* gpus, const File* files, const unsigned* ptx,
                            Start* starts, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) starts[i] = startWith(newestPtx(gpus[i], files[i]), files[i], ptx + i * kPtxWords);
}

// The driver's choice: PTX is compiled only where the GPU can use no machine code of the file.
__global__ void defaultStart(const unsigned* gpus, const File* files, const unsigned* ptx,
                             Start* starts, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) starts[i] = startWith(chosenBy(gpus[i], files[i]), files[i], ptx + i * kPtxWords);
}

// ---- starts of real programs ----

// What a process sees when it uses a target for the first time. Architectures are numbers such as
// 90, for 9.0.
struct FirstUse {
    cudaError_t error = cudaSuccess;  // of the launch
    unsigned from = 0;                // the PTX that the code was made of
    unsigned machine = 0;             // the machine code that was loaded
    unsigned compiledFor = 0;         // what the kernel itself says
    bool right = false;               // every result
    double milliseconds = 0;          // from the launch to the kernel's end
};

FirstUse use(const Target& target, const std::vector<int>& input,
             const std::vector<int>& expected) {
    const lab::DeviceBuffer<int> source(input);
    lab::DeviceBuffer<int> results(input.size()), compiledFor(1);
    results.fillBytes(lab::poisonByte<int>());
    compiledFor.fillBytes(lab::poisonByte<int>());
    CUDA_CHECK(cudaDeviceSynchronize());

    FirstUse seen;
    const lab::CpuTimer timer;
    target.launch(lab::blocksFor(input.size(), kBlock), kBlock, source.get(), results.get(),
                  compiledFor.get(), input.size());
    seen.error = cudaGetLastError();
    if (seen.error != cudaSuccess) return seen;
    CUDA_CHECK(cudaDeviceSynchronize());
    seen.milliseconds = timer.milliseconds();

    cudaFuncAttributes attributes;
    CUDA_CHECK(target.attributes(&attributes));
    seen.from = static_cast<unsigned>(attributes.ptxVersion);
    seen.machine = static_cast<unsigned>(attributes.binaryVersion);
    seen.compiledFor = static_cast<unsigned>(compiledFor.toHost()[0]);
    seen.right = lab::mismatch(results.toHost(), expected).empty();
    return seen;
}

// The environment of a new process.
struct Environment {
    std::string cache;           // the folder in which the driver keeps what it compiles
    bool cacheDisabled = false;  // CUDA_CACHE_DISABLE
    bool forcedToPtx = false;    // CUDA_FORCE_PTX_JIT
};

// Does `work` in a new process. This process must not have used CUDA yet, because a child cannot go
// on with what its parent has begun.
template <typename Work>
FirstUse inNewProcess(lab::Exercise& exercise, const Environment& environment, const Work& work) {
    int ends[2];
    if (pipe(ends) != 0) lab::quit(lab::kExitFailure, "no pipe for a new process: %m");
    const pid_t child = fork();
    if (child < 0) lab::quit(lab::kExitFailure, "no new process: %m");
    if (child == 0) {
        setenv("CUDA_CACHE_PATH", environment.cache.c_str(), 1);
        setenv("CUDA_CACHE_DISABLE", environment.cacheDisabled ? "1" : "0", 1);
        if (environment.forcedToPtx) setenv("CUDA_FORCE_PTX_JIT", "1", 1);
        exercise.selectDevice();
        const FirstUse seen = work();
        _exit(write(ends[1], &seen, sizeof seen) == sizeof seen ? lab::kExitOk : lab::kExitFailure);
    }
    close(ends[1]);
    FirstUse seen;
    const bool complete = read(ends[0], &seen, sizeof seen) == sizeof seen;
    close(ends[0]);
    if (complete) return seen;  // the child takes a while to end, and nobody needs to wait for it
    int status = 0;             // the child has said why it failed
    waitpid(child, &status, 0);
    std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : lab::kExitFailure);
}

// A folder for the driver's cache, which the destructor removes.
class Folder {
  public:
    Folder() : path_((std::filesystem::temp_directory_path() / "compileTargets.XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr) {
            lab::quit(lab::kExitFailure, "no folder %s for the driver's cache: %m", path_.c_str());
        }
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// ---- what is printed ----

// What is wrong with a predicted start; empty if nothing is.
std::string wrongStart(unsigned gpu, const File& file, const Start& seen, const Start& expected) {
    if (seen.used == expected.used && seen.compiled == expected.compiled) return "";
    const auto code = [](int used) {
        if (used < 0) return std::string("nothing");
        return (used % 2 == 1 ? "sm_" : "compute_") + std::to_string(used / 2);
    };
    const std::string of = "a GPU of " + std::to_string(gpu / 10) + "." + std::to_string(gpu % 10) +
                           ", a file with " + (file.count == 0 ? "nothing" : described(file));
    if (seen.used == expected.used) return of + ": the sum of its PTX is wrong";
    return of + ": used " + code(seen.used) + ", expected " + code(expected.used);
}

// What is wrong with a start: the device should have chosen `expected`, and the kernel's results
// must be right.
std::string wrongIn(const FirstUse& seen, const Code* expected, unsigned device) {
    if (expected == nullptr) {
        if (seen.error != cudaSuccess) return "";
        return "the kernel ran, although the file has no code for this device";
    }
    if (seen.error != cudaSuccess)
        return lab::formatted("did not run: %s", cudaGetErrorName(seen.error));
    if (!seen.right) return "the kernel's results are not those of the host";
    const unsigned machine = expected->machine ? expected->capability : device;
    if (seen.from == expected->capability && seen.compiledFor == seen.from &&
        seen.machine == machine)
        return "";
    return lab::formatted("sm_%u from PTX %u, made for %u: expected sm_%u from PTX %u",
                          seen.machine, seen.from, seen.compiledFor, machine, expected->capability);
}

std::string nameOf(const Code* code) {
    if (code == nullptr) return "nothing";
    return code->machine ? "machine code" : "compiled PTX";
}

// The starts of one target, each in a process of its own.
struct Starts {
    Target target;
    FirstUse first, again, off, forced;
};

std::vector<Starts> startsOfTargets(lab::Exercise& exercise, const std::vector<int>& input,
                                    const std::vector<int>& expected) {
    std::vector<Starts> all;
    for (const Target& target : linkedTargets()) {
        if (!exercise.selected(target.name)) continue;
        Starts starts = {target, {}, {}, {}, {}};
        if (!exercise.profile()) {
            const Folder cache, forcedCache;
            const auto start = [&](const Environment& environment) {
                return inNewProcess(exercise, environment,
                                    [&] { return use(target, input, expected); });
            };
            starts.first = start({cache.path()});
            starts.again = start({cache.path()});
            starts.off = start({cache.path(), true});
            starts.forced = start({forcedCache.path(), false, true});
        }
        all.push_back(starts);
    }
    return all;
}

lab::Row rowOf(const lab::Exercise& exercise, const Starts& starts) {
    const unsigned device =
        static_cast<unsigned>(10 * exercise.device().major + exercise.device().minor);
    const File file = fileWith(starts.target.architectures);
    const Code* const expected = expectedOf(device, file);
    lab::Row row;
    row.kernel = starts.target.name;
    row.grid = row.block = "-";
    std::string& wrong = row.finding.wrong;
    for (const FirstUse* seen : {&starts.first, &starts.again, &starts.off}) {
        if (wrong.empty()) wrong = wrongIn(*seen, expected, device);
    }
    const bool forced = !exercise.profile();
    if (wrong.empty() && forced)
        wrong = wrongIn(starts.forced, expectedOf(device, file, Driver::kForcedToPtx), device);

    const FirstUse& first = starts.first;
    const bool ran = first.error == cudaSuccess;
    const auto time = [&](const FirstUse& seen) {
        return exercise.timesCount() && seen.error == cudaSuccess ? lab::Cell(seen.milliseconds, 2)
                                                                  : lab::Cell();
    };
    row.finding.cells = {described(file),
                         nameOf(expected),
                         ran ? lab::Cell(first.from) : lab::Cell(),
                         ran ? lab::Cell(first.machine) : lab::Cell(),
                         time(first),
                         time(starts.again),
                         time(starts.off),
                         time(starts.forced)};
    return row;
}

int main(int argc, char** argv) {
    std::size_t size;
    lab::Exercise exercise("compileTargets", "Which code a GPU uses of what nvcc has made.");
    exercise.option("size", &size, {1 << 16, 1 << 10}, 1, lab::kMaxSize,
                    "number of predicted starts, and of ints for the targets");
    exercise.parseOptions(argc, argv);
    exercise.columns(lab::Columns::kTimed,
                     {{"in the file", -14, "in_the_file"},
                      {"runs", -12, "runs"},
                      {"from", 4, "from"},
                      {"loaded", 6, "loaded"},
                      {"first", 6, "empty_cache_ms", lab::OwnColumn::kOnGpu},
                      {"again", 6, "filled_cache_ms", lab::OwnColumn::kOnGpu},
                      {"off", 6, "no_cache_ms", lab::OwnColumn::kOnGpu},
                      {"forced", 6, "forced_ms", lab::OwnColumn::kOnGpu}},
                     {"grid", "block", "median_ms", "from", "loaded"});

    // Before this process uses CUDA.
    std::vector<int> input, mixedInput;
    if (!linkedTargets().empty()) {
        input = lab::randomInts(size, exercise.seed(), 0, INT_MAX);
        for (const int bits : input) mixedInput.push_back(mixed(bits));
    }
    std::vector<Starts> starts = startsOfTargets(exercise, input, mixedInput);

    exercise.selectDevice();
    exercise.title("%s starts", lab::withCommas(size).c_str());

    // Files of 0 to 6 pieces of code, and GPUs, at random.
    const std::vector<unsigned> architectures = {75, 80, 86, 89, 90, 100, 103, 120, 121};
    const int last = static_cast<int>(architectures.size()) - 1;
    std::uint64_t number = 0;
    const auto random = [&](int most) {
        return lab::randomInt(exercise.seed(), number++, 0, most);
    };
    std::vector<unsigned> gpuOf(size), words(size * kPtxWords);
    std::vector<File> fileOf(size);
    for (std::size_t i = 0; i < size; ++i) {
        gpuOf[i] = architectures[random(last)];
        fileOf[i].count = random(6);
        for (unsigned k = 0; k < fileOf[i].count; ++k)
            fileOf[i].code[k] = {random(1) == 1, architectures[random(last)]};
    }
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<unsigned>(3 * i + 1);
    const lab::DeviceBuffer<unsigned> gpus(gpuOf), ptx(words);
    const lab::DeviceBuffer<File> files(fileOf);
    lab::DeviceBuffer<Start> started(size);

    const auto rung = [&](const char* name, Driver driver, auto* kernel) {
        const auto check = [&, driver]() -> lab::Finding {
            const std::vector<Start> seen = started.toHost();
            std::size_t ran = 0;
            std::string wrong;
            for (std::size_t i = 0; i < size && wrong.empty(); ++i) {
                const Code* const code = expectedOf(gpuOf[i], fileOf[i], driver);
                const bool compiles = code != nullptr && !code->machine;
                const auto begin = words.begin() + i * kPtxWords;
                const unsigned sum = compiles ? std::accumulate(begin, begin + kPtxWords, 0u) : 0;
                const int used = code == nullptr ? kNothing : asNumber(*code);
                ran += code != nullptr;
                wrong = wrongStart(gpuOf[i], fileOf[i], seen[i], {used, sum});
            }
            return {wrong, {"0 to 6 pieces", lab::withCommas(ran) + " starts"}};
        };
        const unsigned grid = lab::blocksFor(size, kBlock);
        lab::Ladder ladder(exercise, started);
        ladder.rung(name, grid, kBlock, lab::kNoRate, check, [&] {
            kernel<<<grid, kBlock>>>(gpus.get(), files.get(), ptx.get(), started.get(), size);
        });
    };
    rung("forcedStart", Driver::kForcedToPtx, forcedStart);
    rung("defaultStart", Driver::kByDefault, defaultStart);

    for (Starts& each : starts) {
        if (exercise.profile())
            each.first = each.again = each.off = use(each.target, input, mixedInput);
        exercise.row(rowOf(exercise, each));
    }
    return exercise.finish();
}
