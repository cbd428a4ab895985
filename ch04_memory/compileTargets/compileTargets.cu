// What nvcc leaves in a program: machine code for some GPUs, PTX that a driver can compile for
// later ones, or both. One kernel, compiled five times from one source:
//
//   1 ptxOld             PTX for the oldest architecture that nvcc knows: runs on all since then
//   2 machineCode        machine code for this build's: runs on GPUs of its generation alone
//   3 machineCodeAndPtx  both, which is what you would give to others
//   4 otherMachineCode   machine code for another generation: does not run
//   5 ptxNew             PTX for the newest architecture: does not run on older ones
//
// A row says what was in the file, what the device runs of it, and what the first launch costs a
// process: with an empty cache, where the driver has to compile PTX, and with what that run has
// left in the cache. Each of the two is a process of its own.
//
//   ./lab run compileTargets
//   ./lab test compileTargets
//   ./lab profile compileTargets
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu):
//   cmake --build build --target compileTargets
//   build/ch04_memory/compileTargets
//   cuobjdump --list-elf --list-ptx build/ch04_memory/compileTargets
//
// Without CMake it takes an nvcc for each target: exercise.cmake has their options.

#include "compileTargets.h"

#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compileRules.h"
#include "lab.cuh"

constexpr unsigned kBlock = 256;

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

// `work` in a new process, whose driver keeps what it compiles in the folder `cache`. Only as long
// as this process has not used CUDA: a child cannot go on with what its parent has begun.
template <typename Work>
FirstUse inNewProcess(lab::Exercise& exercise, const std::string& cache, const Work& work) {
    int ends[2];
    if (pipe(ends) != 0) lab::quit(lab::kExitFailure, "no pipe for a new process: %m");
    const pid_t child = fork();
    if (child < 0) lab::quit(lab::kExitFailure, "no new process: %m");
    if (child == 0) {
        setenv("CUDA_CACHE_PATH", cache.c_str(), 1);
        setenv("CUDA_CACHE_DISABLE", "0", 1);
        exercise.selectDevice();
        const FirstUse seen = work();
        _exit(write(ends[1], &seen, sizeof seen) == sizeof seen ? lab::kExitOk : lab::kExitFailure);
    }
    close(ends[1]);
    FirstUse seen;
    const bool complete = read(ends[0], &seen, sizeof seen) == sizeof seen;
    close(ends[0]);
    if (complete) return seen;  // nobody waits until the child has ended, which takes a while
    int status = 0;
    waitpid(child, &status, 0);
    // The child has said why.
    std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : lab::kExitFailure);
}

// A folder for the driver's cache, removed in the end.
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

// Against the rule: what the device should have chosen, and that its results are right.
std::string wrongIn(const FirstUse& seen, const Code* chosen, unsigned device) {
    if (chosen == nullptr) {
        if (seen.error == cudaErrorNoKernelImageForDevice) return "";
        return lab::formatted("expected cudaErrorNoKernelImageForDevice, not %s",
                              cudaGetErrorName(seen.error));
    }
    if (seen.error != cudaSuccess)
        return lab::formatted("did not run: %s", cudaGetErrorName(seen.error));
    if (!seen.right) return "the kernel's results are not those of the host";
    const unsigned machine = chosen->machine ? chosen->capability : device;
    if (seen.from == chosen->capability && seen.compiledFor == seen.from && seen.machine == machine)
        return "";
    return lab::formatted("sm_%u from PTX %u, made for %u: expected sm_%u from PTX %u",
                          seen.machine, seen.from, seen.compiledFor, machine, chosen->capability);
}

std::string nameOf(const Code* chosen) {
    if (chosen == nullptr) return "nothing";
    return chosen->machine ? "machine code" : "compiled PTX";
}

int main(int argc, char** argv) {
    std::size_t size;
    lab::Exercise exercise("compileTargets", "Which code a GPU runs of what nvcc has made.",
                           lab::BackEnds::kGpuAlone);
    exercise.option("size", &size, 1 << 16, 1, lab::kMaxSize, "number of ints");
    exercise.parseOptions(argc, argv);
    exercise.columns(lab::Columns::kPlain, {{"target", -17, "target"},
                                            {"in the file", -14, "in_the_file"},
                                            {"runs", -12, "runs"},
                                            {"from", 4, "from"},
                                            {"loaded", 6, "loaded"},
                                            {"first", 7, "empty_cache_ms"},
                                            {"cached", 7, "filled_cache_ms"}});

    const std::vector<int> input = lab::randomInts(size, exercise.seed(), 0, INT_MAX);
    std::vector<int> expected;
    for (const int bits : input) expected.push_back(mixed(bits));

    struct Result {
        const Target* target;
        FirstUse emptyCache, filledCache;
    };
    std::vector<Result> results;
    for (const Target* target :
         {&ptxOld, &machineCode, &machineCodeAndPtx, &otherMachineCode, &ptxNew}) {
        if (!exercise.selected(target->name)) continue;
        Result result = {target, {}, {}};
        if (!exercise.profile()) {
            const Folder cache;
            const auto work = [&] { return use(*target, input, expected); };
            result.emptyCache = inNewProcess(exercise, cache.path(), work);
            result.filledCache = inNewProcess(exercise, cache.path(), work);
        }
        results.push_back(result);
    }

    exercise.selectDevice();
    exercise.title("%s ints (%s)", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(int)).c_str());
    const unsigned device =
        static_cast<unsigned>(10 * exercise.device().major + exercise.device().minor);
    for (Result& result : results) {
        const std::vector<Code> code = codeIn(result.target->architectures);
        const Code* const chosen = chosenBy(device, code);
        if (exercise.profile()) {
            result.emptyCache = result.filledCache = use(*result.target, input, expected);
        }
        const FirstUse &seen = result.emptyCache, &again = result.filledCache;

        lab::Row row;
        row.kernel = result.target->name;
        row.finding.wrong = wrongIn(seen, chosen, device);
        if (row.finding.wrong.empty()) row.finding.wrong = wrongIn(again, chosen, device);
        row.finding.cells = {row.kernel, described(code), nameOf(chosen)};
        if (seen.error == cudaSuccess) {
            row.finding.cells.insert(row.finding.cells.end(), {seen.from, seen.machine});
            if (exercise.timesCount()) {
                row.finding.cells.push_back({seen.milliseconds, 2});
                row.finding.cells.push_back({again.milliseconds, 2});
            }
        }
        exercise.row(row);
    }
    return exercise.finish();
}
