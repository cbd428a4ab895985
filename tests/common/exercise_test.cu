// What Exercise does around a kernel: each test runs good and bad kernels through it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "lab.cuh"
#include "output_file.cuh"

namespace {

constexpr std::size_t kCount = 1000;

__global__ void writeAll(int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = static_cast<int>(i);
}

__global__ void increment(int* data, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) ++data[i];
}

std::vector<int> numbers() {
    std::vector<int> values(kCount);
    for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<int>(i);
    return values;
}

void parse(lab::Exercise& exercise, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "test");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    exercise.parse(static_cast<int>(arguments.size()), argv.data());
}

struct Outcome {
    int status;
    std::string out;
};

const lab::Work kWork = lab::bytes(4.0 * kCount);

// A ladder whose kernels write 0, 1, 2 ... into `out`.
struct Fixture {
    lab::Exercise& exercise;
    lab::DeviceBuffer<int>& out;
    lab::Ladder ladder;

    Fixture(lab::Exercise& exercise, lab::DeviceBuffer<int>& out)
        : exercise(exercise), out(out), ladder(exercise, out) {}

    std::string wrong() const { return lab::mismatch(out.toHost(), numbers()); }
    lab::Check check() {
        return [this] { return wrong(); };
    }
    // A kernel that writes as many elements as it has threads.
    void write(const std::string& name, unsigned grid) {
        ladder.rung(name, grid, 128, kWork, check(),
                    [=] { writeAll<<<grid, 128>>>(out.get(), kCount); });
    }
    void addGood() { write("good", 8); }
};

Outcome run(const std::vector<std::string>& arguments, const std::function<void(Fixture&)>& rungs) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    lab::Exercise exercise("test", "A test.");
    parse(exercise, arguments);
    lab::DeviceBuffer<int> out(kCount);
    exercise.title("%zu ints", kCount);
    Fixture fixture(exercise, out);
    rungs(fixture);
    const int status = exercise.finish();
    testing::internal::GetCapturedStderr();
    return {status, testing::internal::GetCapturedStdout()};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// However long the name of the processor is.
TEST(Exercise, ALongTitleTakesTwoLines) {
    testing::internal::CaptureStdout();
    lab::Exercise exercise("test", "A test.");
    parse(exercise, {});
    exercise.title("%s", std::string(70, 'x').c_str());
    exercise.selected("any");
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_EQ(out.rfind("test: " + std::string(70, 'x') + "\non CPU emulation of ", 0), 0u) << out;
}

// The good kernel before it has left the right result in the same buffer.
TEST(Exercise, AWrongKernelIsNamedAndTheOthersRun) {
    const Outcome outcome = run({}, [](Fixture& f) {
        f.write("before", 8);
        f.write("noTail", 7);
        f.addGood();
    });
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(contains(outcome.out, "  WRONG\n"));
    EXPECT_TRUE(contains(outcome.out, "WRONG: noTail: element 896 was never written"));
    EXPECT_TRUE(contains(outcome.out, "\ngood  "));
}

// Whose times would say nothing about a GPU.
TEST(Exercise, AnEmulationShowsItsTimesOnlyWhenAsked) {
    const auto rungs = [](Fixture& f) { f.addGood(); };
    EXPECT_FALSE(contains(run({}, rungs).out, "[ms]"));
    EXPECT_TRUE(contains(run({"--host-times"}, rungs).out, "[ms]"));
    EXPECT_TRUE(contains(run({"--csv", "--reps=2"}, rungs).out, ",good,8,128,2,,,,,,,ok\n"));
    EXPECT_FALSE(contains(run({"--csv", "--host-times"}, rungs).out, ",,,"));
}

TEST(Exercise, ProfileLaunchesOnceAndStillChecks) {
    int launches = 0;
    const auto rungs = [&](std::size_t count) {
        return [&, count](Fixture& f) {
            launches = 0;
            f.ladder.rung("counted", 8, 128, kWork, f.check(), [&, count] {
                ++launches;
                writeAll<<<8, 128>>>(f.out.get(), count);
            });
        };
    };
    EXPECT_EQ(run({"--profile"}, rungs(kCount)).status, 0);
    EXPECT_EQ(launches, 1);
    EXPECT_EQ(run({"--profile"}, rungs(kCount - 1)).status, 1);
    EXPECT_EQ(run({"--reps=5"}, rungs(kCount)).status, 0);
    EXPECT_GE(launches, 6);  // one to warm up
}

TEST(Exercise, ProfileRunsAPeerOnlyByName) {
    int launches = 0;
    const auto rungs = [&](Fixture& f) {
        f.addGood();
        f.ladder.peer("library", kWork, f.check(), [&] {
            ++launches;
            writeAll<<<8, 128>>>(f.out.get(), kCount);
        });
    };
    EXPECT_EQ(run({"--profile"}, rungs).status, 0);
    EXPECT_EQ(launches, 0);
    EXPECT_EQ(run({"--profile", "--kernel=lib"}, rungs).status, 0);
    EXPECT_EQ(launches, 1);
    EXPECT_TRUE(contains(run({}, rungs).out, "\nlibrary                            -      -  "));
}

TEST(Exercise, ACheckMayRunTheKernelAgain) {
    int launches = 0;
    const auto rungs = [&](Fixture& f) {
        launches = 0;
        lab::DeviceBuffer<int> data(kCount);
        lab::Ladder ladder(f.exercise, f.out, [&] { data.fillBytes(0); });
        const auto check = [&] {
            ladder.again();
            const std::string wrong = lab::mismatch(data.toHost(), std::vector<int>(kCount, 1));
            return wrong.empty() ? f.wrong() : wrong;
        };
        ladder.rung("twice", 8, 128, kWork, check, [&] {
            ++launches;
            increment<<<8, 128>>>(data.get(), kCount);
            if (launches == 1) writeAll<<<8, 128>>>(f.out.get(), kCount);
        });
    };
    const Outcome outcome = run({"--profile"}, rungs);
    EXPECT_EQ(launches, 2);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(contains(outcome.out, "twice: element 0 was never written"));
}

TEST(Exercise, WhatTheHostComputesIsTimedAndChecked) {
    int runs = 0;
    const auto rungs = [&](Fixture& f) {
        f.addGood();
        f.ladder.host("loop", kWork, [] { return std::string("a wrong sum"); }, [&] { ++runs; });
    };
    EXPECT_EQ(run({"--reps=4"}, rungs).status, 1);
    EXPECT_EQ(runs, 5) << "one that is not timed, and four";
    EXPECT_TRUE(contains(run({"--csv", "--profile"}, rungs).out, ",loop,-,-,0,,,,,,,WRONG\n"));
    EXPECT_EQ(runs, 6);
    EXPECT_FALSE(contains(run({"--kernel=good"}, rungs).out, "loop"));
    EXPECT_EQ(runs, 6);
}

// A death test's child prints to the stderr that gtest reads: nothing is captured there.
void runUncaptured(const std::vector<std::string>& arguments, dim3 block) {
    lab::Exercise exercise("test", "A test.");
    unsigned size;
    exercise.option("size", &size, 5, 1, 10, "elements");
    parse(exercise, arguments);
    lab::DeviceBuffer<int> out(kCount);
    lab::Ladder ladder(exercise, out);
    exercise.title("title");
    for (int row = 0; row < 2; ++row) {
        ladder.rung(
            "only", 1, block, kWork, [] { return std::string(); },
            [&] { writeAll<<<1, block>>>(out.get(), kCount); });
    }
    std::exit(exercise.finish());
}

void allocate(const std::vector<std::string>& arguments) {
    lab::Exercise exercise("test", "A test.");
    std::size_t size;
    exercise.option("size", &size, 1 << 20, 1, lab::kMaxSize, "elements");
    parse(exercise, arguments);
    lab::DeviceBuffer<double> buffer(size << 24);
}

TEST(ExerciseDeathTest, WhatDoesNotFitNamesTheOptions) {
    EXPECT_EXIT(allocate({"--size=2M", "--seed=3"}), testing::ExitedWithCode(1),
                "^test: --size=2M: cannot allocate 256 TiB of device memory: .* are free; choose "
                "a smaller size\n$");
    EXPECT_EXIT(allocate({}), testing::ExitedWithCode(1),
                "^test: cannot allocate 128 TiB of device memory: ");
}

TEST(ExerciseDeathTest, ALaunchThatCannotStartNamesTheKernel) {
    EXPECT_EXIT(runUncaptured({}, 1025), testing::ExitedWithCode(1),
                "^test: only: cannot be launched: cudaErrorInvalidConfiguration: ");
}

// A kernel that uses a null pointer.
void runFaulty() {
    lab::Exercise exercise("test", "A test.");
    parse(exercise, {});
    lab::DeviceBuffer<int> out(kCount);
    lab::Ladder ladder(exercise, out);
    ladder.rung(
        "faulty", 1, 1, kWork, [] { return std::string(); },
        [] { writeAll<<<1, 1>>>(nullptr, kCount); });
    std::exit(exercise.finish());
}

TEST(ExerciseDeathTest, AKernelThatFaultsIsNamed) {
#ifdef __SANITIZE_ADDRESS__  // the sanitizers' own report has the line
    const char* const message = "exercise_test.cu:[0-9]+.* null pointer|SEGV .*writeAll";
#else
    const char* const message =
        "kernel writeAll, block .0,0,0., thread .0,0,0.: illegal address .*"
        "test: faulty: failed while it ran: cudaErrorIllegalAddress: ";
#endif
    EXPECT_EXIT(runFaulty(), testing::ExitedWithCode(1), testing::ContainsRegex(message));
}

TEST(CsvFile, ADeviceStaysADevice) {
    const lab::Exercise exercise("test", "A test.");
    lab::CsvFile file(exercise, "timeline", "/dev/null", {"kernel"});
    file.row({"a"});
    file.close();
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

std::string contentOf(const std::string& name) {
    std::ifstream file(name);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A folder with a file "t.csv" in it, which is to be replaced.
struct Replaced {
    char folder[32] = "/tmp/csv_file.XXXXXX";
    std::string name;

    Replaced() {
        if (mkdtemp(folder) == nullptr) std::abort();
        name = std::string(folder) + "/t.csv";
        std::ofstream(name) << "before\n";
    }
    ~Replaced() { std::filesystem::remove_all(folder); }
    std::ptrdiff_t files() const {
        const std::filesystem::directory_iterator all(folder);
        return std::distance(begin(all), end(all));
    }
};

// An interrupted program leaves what was there.
TEST(CsvFile, AppearsAsAWhole) {
    const Replaced replaced;
    const std::string link = std::string(replaced.folder) + "/l.csv";
    ASSERT_EQ(symlink("t.csv", link.c_str()), 0);
    const lab::Exercise exercise("test", "A test.");
    lab::CsvFile file(exercise, "timeline", link, {"kernel"});
    file.row({"a"});
    EXPECT_EQ(contentOf(replaced.name), "before\n");
    file.row({"b"});
    file.close();
    EXPECT_EQ(contentOf(replaced.name), "kernel\na\nb\n");
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(replaced.files(), 2);
}

void writeWithoutRoom(const std::string& name) {
    const rlimit most{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &most);
    lab::Exercise exercise("test", "A test.");
    parse(exercise, {});
    lab::CsvFile file(exercise, "timeline", name, {"kernel"});
    for (int row = 0; row < 1000; ++row) file.row({"a kernel"});
    file.close();
}

TEST(CsvFileDeathTest, WhatHasNoRoomLeavesWhatWasThere) {
    const Replaced replaced;
    EXPECT_EXIT(writeWithoutRoom(replaced.name), testing::ExitedWithCode(1),
                "^test: cannot write to .*/t.csv: File too large\n$");
    EXPECT_EQ(contentOf(replaced.name), "before\n");
    EXPECT_EQ(replaced.files(), 1);
}

// Whenever the signal comes: before the file is written, meanwhile, or when it is complete.
TEST(CsvFile, ASignalLeavesNothingHalfWritten) {
    const std::string row(1 << 20, 'x');
    const Replaced replaced;
    const pid_t child = fork();
    if (child == 0) {
        lab::Exercise exercise("test", "A test.");
        lab::CsvFile file(exercise, "timeline", replaced.name, {"kernel"});
        for (int i = 0; i < 100; ++i) file.row({row});
        file.close();
        pause();
    }
    while (replaced.files() == 1 && std::filesystem::file_size(replaced.name) < 10) usleep(100);
    kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    EXPECT_EQ(replaced.files(), 1);
    const std::string content = contentOf(replaced.name);
    EXPECT_TRUE(content == "before\n" || content.size() == 100 * (row.size() + 1) + 7)
        << content.size();
}

TEST(CsvFile, WithoutARowWhatWasThereStays) {
    const Replaced replaced;
    const lab::Exercise exercise("test", "A test.");
    lab::CsvFile(exercise, "timeline", replaced.name, {"kernel"}).close();
    EXPECT_EQ(contentOf(replaced.name), "before\n");
}

int runWithClosed(int descriptor) {
    close(descriptor);
    lab::Exercise exercise("test", "A test.");
    std::FILE* const file = std::fopen("/dev/null", "r");
    if (fileno(file) <= STDERR_FILENO) return 99;
    parse(exercise, {});
    lab::DeviceBuffer<int> out(kCount);
    Fixture fixture(exercise, out);
    fixture.addGood();
    return exercise.finish();
}

TEST(ExerciseDeathTest, AClosedDescriptorIsNoFile) {
    EXPECT_EXIT(std::_Exit(runWithClosed(STDIN_FILENO)), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(std::_Exit(runWithClosed(STDOUT_FILENO)), testing::ExitedWithCode(1),
                "^test: cannot write to stdout\n$");
    EXPECT_EXIT(std::_Exit(runWithClosed(STDERR_FILENO)), testing::ExitedWithCode(0), "^$");
}

void launchTooLarge() {
    writeAll<<<1, 4096>>>(nullptr, 0);
    CUDA_CHECK_LAUNCH();
}

TEST(CheckDeathTest, NamesTheExpressionTheLineAndTheError) {
    EXPECT_EXIT(CUDA_CHECK(cudaSetDevice(-1)), testing::ExitedWithCode(1),
                "exercise_test.cu:[0-9]+: cudaSetDevice\\(-1\\): cudaErrorInvalidDevice: ");
    EXPECT_EXIT(launchTooLarge(), testing::ExitedWithCode(1),
                "exercise_test.cu:[0-9]+: kernel launch: cudaErrorInvalidConfiguration: ");
}

TEST(Buffer, MovesItsMemory) {
    lab::DeviceBuffer<int> first(std::vector<int>{1, 2, 3});
    const int* memory = first.get();
    lab::DeviceBuffer<int> second(std::move(first));
    EXPECT_EQ(second.get(), memory);
    first = lab::DeviceBuffer<int>(std::vector<int>{4});
    EXPECT_EQ(first.toHost(), (std::vector<int>{4}));
    EXPECT_EQ(second.toHost(), (std::vector<int>{1, 2, 3}));
}

cudaMemoryType memoryType(const void* memory) {
    cudaPointerAttributes attributes;
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, memory));
    return attributes.type;
}

TEST(Buffer, FreesItsMemory) {
    const int *device, *moved, *pinned;
    {
        lab::DeviceBuffer<int> first(kCount), second(kCount);
        const lab::PinnedBuffer<int> host(kCount);
        device = first.get();
        moved = second.get();
        pinned = host.get();
        first = std::move(second);
        EXPECT_EQ(memoryType(moved), cudaMemoryTypeDevice);
        EXPECT_EQ(memoryType(pinned), cudaMemoryTypeHost);
    }
    EXPECT_EQ(memoryType(device), cudaMemoryTypeUnregistered);
    EXPECT_EQ(memoryType(moved), cudaMemoryTypeUnregistered);
    EXPECT_EQ(memoryType(pinned), cudaMemoryTypeUnregistered);
}

TEST(BufferDeathTest, WhatDoesNotFitSaysHowMuchIsFree) {
    EXPECT_EXIT(lab::PinnedBuffer<double>(std::size_t{1} << 45), testing::ExitedWithCode(1),
                "cannot allocate 256 TiB of pinned memory: .*B are free");
    EXPECT_EXIT(lab::DeviceBuffer<double>(SIZE_MAX), testing::ExitedWithCode(1), "device memory");
    EXPECT_EXIT(lab::DeviceBuffer<int>(2).copyFrom(std::vector<int>(3)), testing::ExitedWithCode(1),
                "3 elements does not fit a device buffer of 2");
}

using Clock = std::chrono::steady_clock;

__host__ __device__ double millisecondsSince(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// A kernel of 2 ms, by the clock of the host that emulates it. Timers round.
constexpr double kBusy = 2, kRounded = kBusy * (1 - 1e-6);
__global__ void stayBusy(unsigned long long* nanoseconds) {
    const unsigned long long begin = lab::globaltimer();
    const auto hostBegin = Clock::now();
    while (millisecondsSince(hostBegin) < kBusy) {
    }
    *nanoseconds = lab::globaltimer() - begin;
}

// A time is at least what the kernel took, and at most what passes around it: in milliseconds.
TEST(Timer, CountsMilliseconds) {
    lab::DeviceBuffer<unsigned long long> nanoseconds(1);
    const auto begin = Clock::now();
    const lab::CpuTimer onHost;
    lab::GpuTimer onGpu;
    onGpu.start();
    stayBusy<<<1, 1>>>(nanoseconds.get());
    CUDA_CHECK_LAUNCH();
    onGpu.stop();
    const double ofGpu = onGpu.milliseconds(), ofHost = onHost.milliseconds();
    const double ofKernel = lab::milliseconds(nanoseconds.toHost()[0]);
    const double passed = millisecondsSince(begin);
    for (const double time : {ofKernel, ofGpu, ofHost}) EXPECT_GE(time, kRounded);
    EXPECT_LE(ofKernel, ofGpu * (1 + 1e-6));
    EXPECT_LE(ofGpu, ofHost * (1 + 1e-6));
    EXPECT_LE(ofHost, passed);
}

TEST(Grid, BlocksCoverAllItems) {
    EXPECT_EQ(lab::blocksFor(1, 512), 1u);
    EXPECT_EQ(lab::blocksFor(512, 512), 1u);
    EXPECT_EQ(lab::blocksFor(513, 512), 2u);
    EXPECT_EQ(lab::blocksFor(std::size_t{2147483647} * 32, 32), 2147483647u);
}

TEST(GridDeathTest, GridsHaveALimit) {
    EXPECT_EXIT(lab::blocksFor(std::size_t{2147483647} * 32 + 1, 32), testing::ExitedWithCode(1),
                "need 2147483648 blocks: a grid has at most 2147483647; choose a smaller size\n$");
}

// No block without a tile, and no GPU that is not full while there are tiles left.
TEST(Grid, GridStrideBlocksFillTheGpu) {
    lab::DeviceFacts device;
    device.multiprocessors = 10;
    device.threadsPerMultiprocessor = 2048;  // 80 blocks of 256
    EXPECT_EQ(lab::gridStrideBlocks(device, 1, 4096, 256), 1u);
    EXPECT_EQ(lab::gridStrideBlocks(device, 79 * 4096 + 1, 4096, 256), 80u);
    EXPECT_EQ(lab::gridStrideBlocks(device, 320 * 4096, 4096, 256), 80u);
    EXPECT_EQ(lab::gridStrideBlocks(device, 4000 * 4096, 4096, 256), 1000u);
}

// Every tile of the matrix must have a block, also where y alone cannot count them.
TEST(Grid, CoversMatricesOfAnyHeight) {
    EXPECT_EQ(lab::shape(lab::gridFor(33, 1, 32)), "2");
    EXPECT_EQ(lab::shape(lab::gridFor(1, 65535 * 32, 32)), "1x65535");
    for (const std::size_t rows : {65535u * 32 + 1, 3u * 65535 * 32, 1000000007u}) {
        const dim3 grid = lab::gridFor(64, rows, 32);
        EXPECT_EQ(grid.x, 2u);
        EXPECT_LE(grid.y, 65535u);
        EXPECT_LE(grid.z, 65535u);
        EXPECT_GE(std::size_t{grid.y} * grid.z * 32, rows);
    }
}

__global__ void countRows(int* counts, std::size_t rows) {
    if (lab::blockY() < rows) atomicAdd(&counts[lab::blockY()], 1);
}

TEST(Grid, BlockYCountsEveryRowOnce) {
    constexpr std::size_t kRows = 65535 + 10;
    lab::DeviceBuffer<int> counts(kRows);
    counts.fillBytes(0);
    countRows<<<lab::gridFor(1, kRows, 1), 1>>>(counts.get(), kRows);
    CUDA_CHECK_LAUNCH();
    EXPECT_EQ(lab::mismatch(counts.toHost(), std::vector<int>(kRows, 1)), "");
}

TEST(Device, UnitsOfAMultiprocessor) {
    const struct {
        int major, minor, fp32Lanes, tensorLanes, schedulers;
    } known[] = {{6, 0, 0, 0, 0},      {7, 5, 64, 0, 4},   // no BF16
                 {8, 0, 64, 1024, 4},  {8, 6, 128, 0, 4},  // products differ
                 {9, 0, 128, 2048, 4}, {10, 0, 128, 0, 4}, {12, 0, 128, 0, 4}, {99, 0, 0, 0, 0}};
    for (const auto& [major, minor, fp32Lanes, tensorLanes, schedulers] : known) {
        EXPECT_EQ(lab::fp32LanesPerMultiprocessor(major, minor), fp32Lanes) << major;
        EXPECT_EQ(lab::tensorLanesPerMultiprocessor(major, minor), tensorLanes) << major;
        EXPECT_EQ(lab::schedulersPerMultiprocessor(major), schedulers) << major;
    }
}

}  // namespace
