// Shows what the hardware is: the limits that every launch has to keep, and the peaks that no
// kernel can beat. A kernel moves bytes, computes, and issues instructions. The last rows say how
// fast it can do each of these at best.
//
// A row has a property and its value. The line below says what the value means. The numbers come
// from cudaDeviceGetAttribute(), because CUDA 13 dropped the clocks and more from the struct
// cudaDeviceProp. "-" stands for a value that the back end does not have. The program lists all
// devices, unless --device names one. --kernel selects rows by group and property: --kernel=memory,
// --kernel="block dimensions".
//
// The column `check`: a property that the attribute and the struct both have must be the same in
// both. A property with a single source must be possible. A computed property must agree with
// common/device.cpp, which the other exercises use for the column % peak.
//
// --like=NAME lists a GPU that is not here, with recorded numbers (recorded_gpus.h).
//
// --warps=N --instructions=K: a warp scheduler issues one instruction per cycle, so N warps of K
// instructions each take at least N * K / (SMs * schedulers) cycles.
//
// --fit=N lists nothing. It launches a kernel that needs shared memory, so that an SM holds N
// blocks at a time:
//
//   1 wholeLimit  each block takes as much as a block may have: an SM holds one
//   2 fairShare   each block takes what it can have if an SM holds N
//
//   tile       bytes of shared memory for each block
//   blocks/SM  blocks that an SM holds at a time, as CUDA computes them
//
//   ./lab run deviceQuery -- --warps=64K --instructions=1000
//   ./lab run deviceQuery -- --fit=2
//   ./lab test deviceQuery
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target deviceQuery
//   build/ch03_execution_model/deviceQuery --warps=64K --instructions=1000
//   nvidia-smi -q -d CLOCK,MEMORY,ECC   (asks the same driver)
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/deviceQuery/deviceQuery.cu
//       common/*.cpp common/*.cu -o build/deviceQuery

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "lab.cuh"
#include "peaks.h"
#include "propertySheet.cuh"
#include "recorded_gpus.h"

void addIdentity(Sheet& s) {
    s.begin("identity");
    s.add("name", s.p.name, "", "", s.p.name[0] != '\0');
    const int major = s.ask(cudaDevAttrComputeCapabilityMajor);
    const int minor = s.ask(cudaDevAttrComputeCapabilityMinor);
    s.add("compute capability", lab::formatted("%d.%d", major, minor), "",
          lab::formatted("generation and variant: sm_%d%d for nvcc", major, minor),
          major == s.p.major && minor == s.p.minor);
    if (s.recorded) return;  // the other rows describe the machine around the GPU
    int driver = 0, runtime = 0;
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    s.add("CUDA driver version", cudaVersion(driver), "", "the newest CUDA that the driver knows",
          driver / 1000 >= runtime / 1000);
    s.add("CUDA runtime version", cudaVersion(runtime), "", "the CUDA of this program",
          runtime / 1000 == CUDART_VERSION / 1000);

    char address[32] = "";
    CUDA_CHECK(cudaDeviceGetPCIBusId(address, sizeof(address), s.device));
    unsigned domain = 0, bus = 0, slot = 0;
    const int read = std::sscanf(address, "%x:%x:%x", &domain, &bus, &slot);
    const auto is = [&](cudaDeviceAttr attribute, unsigned part) {
        return s.ask(attribute) == static_cast<int>(part);
    };
    const bool same = read == 3 && is(cudaDevAttrPciDomainId, domain) &&
                      is(cudaDevAttrPciBusId, bus) && is(cudaDevAttrPciDeviceId, slot);
    const bool known = domain != 0 || bus != 0 || slot != 0;
    s.add("PCI address", known || !same ? address : "", "", "domain:bus:device.function", same);

    static const char* const kModes[] = {"default", "exclusive", "prohibited", "exclusive process"};
    const int mode = s.ask(cudaDevAttrComputeMode);
    const bool knownMode = mode >= 0 && mode < 4;
    s.add("compute mode", knownMode ? kModes[mode] : std::to_string(mode), "",
          "default: any number of processes may use it", knownMode);
    const int limited = s.ask(cudaDevAttrKernelExecTimeout);
    s.yesNo("run-time limit on kernels", cudaDevAttrKernelExecTimeout, limited,
            "yes where it drives a display, too");
    s.yesNo("integrated", cudaDevAttrIntegrated, s.p.integrated, "shares the host's memory");
}

// A clock has one source. 0 means unknown, and no GPU runs below 100 MHz or above 20 GHz.
bool possibleClock(double megahertz) {
    return megahertz == 0 || (megahertz > 100 && megahertz < 20000);
}

void addMultiprocessors(Sheet& s) {
    const int sms = s.ask(cudaDevAttrMultiProcessorCount);
    const int cores = s.facts.fp32Lanes, schedulers = s.facts.schedulers;
    const double clock = s.ask(cudaDevAttrClockRate) / 1e3;  // MHz
    const int threads = s.ask(cudaDevAttrMaxThreadsPerMultiProcessor);
    const int warp = s.ask(cudaDevAttrWarpSize);
    s.begin("multiprocessors");
    s.sizes("multiprocessors (SMs)", {{cudaDevAttrMultiProcessorCount, s.p.multiProcessorCount}},
            "", "");
    s.number("cores per SM", cores, "", "FP32: one multiply-add per cycle each",
             schedulers == 0 || cores % schedulers == 0);
    s.number("cores", sms * cores, "", lab::formatted("%d SMs x %d", sms, cores));
    s.number("warp schedulers per SM", schedulers, "", "one instruction per cycle each");
    s.number("clock", clock, "MHz", "the highest", possibleClock(clock));
    s.sizes("warp size", {{cudaDevAttrWarpSize, s.p.warpSize}}, "threads", "");
    s.sizes("threads per SM",
            {{cudaDevAttrMaxThreadsPerMultiProcessor, s.p.maxThreadsPerMultiProcessor}}, "threads",
            "resident at a time");
    s.number("warps per SM", 1.0 * threads / warp, "warps",
             lab::formatted("%d / %d, resident at a time", threads, warp), threads % warp == 0);
    s.sizes("blocks per SM",
            {{cudaDevAttrMaxBlocksPerMultiprocessor, s.p.maxBlocksPerMultiProcessor}}, "blocks",
            "resident at a time");
    s.sizes("registers per SM",
            {{cudaDevAttrMaxRegistersPerMultiprocessor, s.p.regsPerMultiprocessor}}, "",
            "of 32 bits");
    s.sizes("shared memory per SM",
            {{cudaDevAttrMaxSharedMemoryPerMultiprocessor, s.p.sharedMemPerMultiprocessor}},
            "bytes", ", for all its blocks");
}

void addLaunchLimits(Sheet& s) {
    s.begin("launch limits");
    s.sizes("threads per block", {{cudaDevAttrMaxThreadsPerBlock, s.p.maxThreadsPerBlock}},
            "threads", "x * y * z of its dimensions");
    s.sizes("block dimensions",
            {{cudaDevAttrMaxBlockDimX, s.p.maxThreadsDim[0]},
             {cudaDevAttrMaxBlockDimY, s.p.maxThreadsDim[1]},
             {cudaDevAttrMaxBlockDimZ, s.p.maxThreadsDim[2]}},
            "threads", "x, y and z");
    s.sizes("grid dimensions",
            {{cudaDevAttrMaxGridDimX, s.p.maxGridSize[0]},
             {cudaDevAttrMaxGridDimY, s.p.maxGridSize[1]},
             {cudaDevAttrMaxGridDimZ, s.p.maxGridSize[2]}},
            "blocks", "x, y and z");
    s.sizes("registers per block", {{cudaDevAttrMaxRegistersPerBlock, s.p.regsPerBlock}}, "",
            "of 32 bits");
    s.sizes("shared memory per block",
            {{cudaDevAttrMaxSharedMemoryPerBlock, s.p.sharedMemPerBlock}}, "bytes",
            ", without asking for more");
    s.sizes("shared per block, opt-in",
            {{cudaDevAttrMaxSharedMemoryPerBlockOptin, s.p.sharedMemPerBlockOptin}}, "bytes",
            ", after cudaFuncSetAttribute()");
    s.sizes("shared per block, reserved",
            {{cudaDevAttrReservedSharedMemoryPerBlock, s.p.reservedSharedMemPerBlock}}, "bytes",
            ", taken by CUDA itself");
    s.yesNo("cooperative launch", cudaDevAttrCooperativeLaunch, s.p.cooperativeLaunch,
            "a barrier for the whole grid");
}

void addMemory(Sheet& s) {
    const double clock = s.ask(cudaDevAttrMemoryClockRate) / 1e3;  // MHz
    s.begin("memory");
    s.number("global memory", static_cast<double>(s.p.totalGlobalMem), "bytes",
             lab::inBytes(s.p.totalGlobalMem), s.p.totalGlobalMem > 0);  // an attribute has 32 bits
    s.number("memory clock", clock, "MHz", "two transfers per cycle (double data rate)",
             possibleClock(clock));
    s.sizes("memory bus width", {{cudaDevAttrGlobalMemoryBusWidth, s.p.memoryBusWidth}}, "bits",
            "");
    s.sizes("L2 cache", {{cudaDevAttrL2CacheSize, s.p.l2CacheSize}}, "bytes", "");
    s.sizes("constant memory", {{cudaDevAttrTotalConstantMemory, s.p.totalConstMem}}, "bytes", "");
    s.sizes("pitch", {{cudaDevAttrMaxPitch, s.p.memPitch}}, "bytes", ", of a row of a 2D copy");
    s.sizes("texture alignment", {{cudaDevAttrTextureAlignment, s.p.textureAlignment}}, "bytes",
            "");
    s.sizes("surface alignment", {{cudaDevAttrSurfaceAlignment, s.p.surfaceAlignment}}, "bytes",
            "");
    s.yesNo("ECC", cudaDevAttrEccEnabled, s.p.ECCEnabled, "memory corrects single-bit errors");
    s.yesNo("unified addressing (UVA)", cudaDevAttrUnifiedAddressing, s.p.unifiedAddressing,
            "one range of addresses with the host");
    s.yesNo("maps host memory", cudaDevAttrCanMapHostMemory, s.p.canMapHostMemory,
            "kernels can use page-locked host memory");
    s.sizes("copy engines", {{cudaDevAttrAsyncEngineCount, s.p.asyncEngineCount}}, "", "");
    s.yesNo("copies beside kernels", cudaDevAttrGpuOverlap, s.p.asyncEngineCount > 0,
            "at least one copy engine");
}

void addTextures(Sheet& s) {
    if (s.recorded) return;  // the program computes nothing from textures
    s.begin("largest textures");
    s.sizes("1D texture", {{cudaDevAttrMaxTexture1DWidth, s.p.maxTexture1D}}, "texels", "");
    s.sizes("2D texture",
            {{cudaDevAttrMaxTexture2DWidth, s.p.maxTexture2D[0]},
             {cudaDevAttrMaxTexture2DHeight, s.p.maxTexture2D[1]}},
            "texels", "");
    s.sizes("3D texture",
            {{cudaDevAttrMaxTexture3DWidth, s.p.maxTexture3D[0]},
             {cudaDevAttrMaxTexture3DHeight, s.p.maxTexture3D[1]},
             {cudaDevAttrMaxTexture3DDepth, s.p.maxTexture3D[2]}},
            "texels", "");
    s.sizes("1D layered texture",
            {{cudaDevAttrMaxTexture1DLayeredWidth, s.p.maxTexture1DLayered[0]},
             {cudaDevAttrMaxTexture1DLayeredLayers, s.p.maxTexture1DLayered[1]}},
            "texels", "the last number: layers");
    s.sizes("2D layered texture",
            {{cudaDevAttrMaxTexture2DLayeredWidth, s.p.maxTexture2DLayered[0]},
             {cudaDevAttrMaxTexture2DLayeredHeight, s.p.maxTexture2DLayered[1]},
             {cudaDevAttrMaxTexture2DLayeredLayers, s.p.maxTexture2DLayered[2]}},
            "texels", "the last number: layers");
}

// Adds a row for each formula, with its value. The first two must agree with common/device.cpp,
// which the other exercises use for % peak. An emulation tells a GPU's clocks, but has no peaks.
void addPeaks(Sheet& s, std::uint64_t warps, std::uint64_t instructions) {
    const int sms = s.ask(cudaDevAttrMultiProcessorCount);
    const int cores = s.facts.fp32Lanes, schedulers = s.facts.schedulers;
    const bool hasPeaks = s.recorded || !lab::kEmulated;
    const double clock = hasPeaks ? s.ask(cudaDevAttrClockRate) / 1e3 : 0;              // MHz
    const double memoryClock = hasPeaks ? s.ask(cudaDevAttrMemoryClockRate) / 1e3 : 0;  // MHz
    const int busWidth = s.ask(cudaDevAttrGlobalMemoryBusWidth);
    const auto equal = [](double a, double b) { return std::fabs(a - b) <= 1e-9 * b; };
    s.begin("peaks");

    const double gigabytes = 2 * memoryClock * busWidth / 8 / 1e3;
    s.number("peak bandwidth", gigabytes, "GB/s",
             lab::formatted("2 x %g MHz x %d bits / 8", memoryClock, busWidth),
             equal(1e9 * gigabytes, s.facts.peakBandwidth));
    const double gigaflops = 2 * clock * sms * cores / 1e3;
    s.number("peak FP32 rate", gigaflops, "GFLOP/s",
             lab::formatted("2 x %g MHz x %d SMs x %d cores", clock, sms, cores),
             equal(1e9 * gigaflops, s.facts.peakFlops));
    s.number("machine balance", machineBalance(gigaflops, gigabytes), "FLOP/byte",
             "with less work per byte, memory is the limit");
    const auto n = static_cast<double>(warps), k = static_cast<double>(instructions);
    const double cycles = cyclesToIssue(n, k, sms, schedulers);
    s.number("cycles to issue", cycles, "cycles",
             lab::formatted("%.0f x %.0f / (%d SMs x %d schedulers)", n, k, sms, schedulers));
    s.number("time to issue", microseconds(cycles, clock), "us",
             lab::formatted("%.1f cycles / %g MHz", cycles, clock));
}

void addAll(Sheet& s, std::uint64_t warps, std::uint64_t instructions) {
    addIdentity(s);
    addMultiprocessors(s);
    addLaunchLimits(s);
    addMemory(s);
    addTextures(s);
    addPeaks(s, warps, instructions);
}

// These are the numbers of a GPU's shared memory, in bytes.
struct SharedMemory {
    unsigned perSm;     // all blocks on an SM share this
    unsigned perBlock;  // no block may ask for more
    unsigned reserved;  // CUDA takes this for itself, in addition to what each block asks for
};

// Fills a tile of shared memory, and adds up what other threads have written there.
__global__ void fillTile(unsigned words, unsigned* sums) {
    extern __shared__ unsigned tile[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) tile[i] = i;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) sum += tile[words - 1 - i];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Returns the bytes of the largest tile that a block may ask for. But then an SM does not hold a
// second block.
unsigned wholeLimit(const SharedMemory& gpu, unsigned /*blocks*/) {
    return gpu.perBlock;
}

// Returns the bytes of the largest tile with which an SM holds so many blocks at a time.
unsigned fairShare(const SharedMemory& gpu, unsigned blocks) {
    return std::min(gpu.perBlock, gpu.perSm / blocks - gpu.reserved);
}

// Launches the blocks of --fit. A tile must be as large as possible. The metric
// theoretical_occupancy shows whether all blocks fit.
void launchTiles(lab::Exercise& exercise, unsigned fit) {
    exercise.columns(
        lab::Columns::kTimed,
        {{"tile", 7, "tile_bytes"}, {"blocks/SM", 9, "blocks_per_sm", lab::OwnColumn::kPredicted}});
    const auto ask = [](cudaDeviceAttr attribute) {
        int device = 0;
        CUDA_CHECK(cudaGetDevice(&device));
        return static_cast<unsigned>(lab::deviceAttribute(attribute, device));
    };
    const SharedMemory gpu = {ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                              ask(cudaDevAttrMaxSharedMemoryPerBlockOptin),
                              ask(cudaDevAttrReservedSharedMemoryPerBlock)};
    const unsigned threads = ask(cudaDevAttrMaxThreadsPerMultiProcessor) / fit / 32 * 32;
    const unsigned block = std::min(threads, ask(cudaDevAttrMaxThreadsPerBlock));
    const unsigned grid = fit * static_cast<unsigned>(exercise.device().multiprocessors);
    exercise.title("%u blocks of %u threads for each SM", fit, block);
    CUDA_CHECK(cudaFuncSetAttribute(fillTile, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(gpu.perBlock)));
    const auto held = [&](unsigned bytes) {
        int blocks = 0;
        CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fillTile,
                                                                 static_cast<int>(block), bytes));
        return blocks;
    };

    lab::DeviceBuffer<unsigned> sums(std::size_t{grid} * block);
    lab::Ladder ladder(exercise, sums);
    const auto rung = [&](const char* name, unsigned bytes) {
        const bool allowed = bytes <= gpu.perBlock;
        const unsigned words = bytes / sizeof(unsigned), more = bytes + 256;
        const auto expected = [&](std::size_t i) {
            unsigned sum = 0;
            for (unsigned j = i % block; j < words; j += block) sum += words - 1 - j;
            return sum;
        };
        const auto check = [&]() -> lab::Finding {
            const std::vector<lab::Cell> cells = {bytes, allowed ? held(bytes) : 0};
            if (!allowed)
                return {lab::formatted("%u bytes: a block may have %u", bytes, gpu.perBlock),
                        cells};
            if (more <= gpu.perBlock && held(more) >= static_cast<int>(fit))
                return {lab::formatted("%u bytes: %u would fit as well", bytes, more), cells};
            return {lab::mismatchOf(sums, expected), cells};
        };
        ladder.rung(name, grid, block, lab::kNoRate, check, [&] {
            if (allowed) fillTile<<<grid, block, bytes>>>(words, sums.get());
        });
    };
    rung("wholeLimit", wholeLimit(gpu, fit));
    rung("fairShare", fairShare(gpu, fit));
}

int main(int argc, char** argv) {
    std::uint64_t warps, instructions;
    std::string like, fitText;
    lab::Exercise exercise("deviceQuery", "Prints the limits and peaks of all devices, or of one.");
    exercise.option("warps", &warps, 64 << 10, 1, lab::kMaxSize,
                    "warps of the kernel in the row cycles to issue");
    exercise.option("instructions", &instructions, 1000, 1, lab::kMaxSize,
                    "instructions that each warp executes");
    exercise.options().text("like", &like, "NAME", "one of " + namesOfRecordedGpus(),
                            "print the recorded values of a GPU: one of " + namesOfRecordedGpus());
    const std::string powers = "a power of two from 1 to 32";
    exercise.options().text("fit", &fitText, "N", powers,
                            "launch a kernel, with N blocks on an SM: " + powers);
    exercise.parseOptions(argc, argv);
    const auto recorded = recordedGpus().find(like);
    if (!like.empty() && recorded == recordedGpus().end())
        exercise.reject("--like=" + like + ": expected one of " + namesOfRecordedGpus());
    // If --device names a GPU, this GPU must exist, as in every exercise. With --like, the program
    // does not use it.
    if (like.empty() || exercise.given("device")) exercise.selectDevice();
    if (!fitText.empty()) {
        std::uint64_t fit = 0;
        const bool isNumber = lab::parseWhole(fitText, &fit);
        if (!isNumber || fit == 0 || fit > 32 || (fit & (fit - 1)) != 0)
            exercise.reject("fit", fitText, powers);
        if (!like.empty()) exercise.reject("--fit needs a device; leave --like out");
        launchTiles(exercise, static_cast<unsigned>(fit));
        return exercise.finish();
    }

    exercise.columns(lab::Columns::kPlain, {{"", 0, "number"},
                                            {"", 0, "group"},
                                            {"property", -28, "property"},
                                            {"value", 26, "value"},
                                            {"unit", -9, "unit"},
                                            {"", 0, "meaning"}});
    if (!like.empty()) {
        Sheet sheet(exercise, recorded->second);
        exercise.note(lab::formatted("deviceQuery: recorded values of %s", sheet.p.name));
        addAll(sheet, warps, instructions);
        return exercise.finish();
    }
    int chosen = 0, count = 0;
    CUDA_CHECK(cudaGetDevice(&chosen));
    CUDA_CHECK(cudaGetDeviceCount(&count));
    const bool all = !exercise.given("device");
    const int first = all ? 0 : chosen, end = all ? count : chosen + 1;
    for (int device = first; device < end; ++device) {
        Sheet sheet(exercise, device);
        exercise.note(lab::formatted("%sdeviceQuery: device %d of %d, %s",
                                     device == first ? "" : "\n", device, count, sheet.p.name));
        exercise.noteInEmulation(
            "Its clocks, bus width and L2 cache come from an H200, or from CUDA_EMULATOR_GPU.");
        addAll(sheet, warps, instructions);
    }
    return exercise.finish();
}
