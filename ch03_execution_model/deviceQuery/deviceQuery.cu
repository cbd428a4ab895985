// What the hardware is: the limits that every launch has to keep, and the peaks that no kernel can
// beat. A kernel moves bytes, computes and issues instructions; the last rows say how fast each can
// go at best.
//
// There is no kernel here, so --kernel selects rows by group and property: --kernel=memory,
// --kernel="block dimensions". All devices are listed, unless --device names one. The numbers come
// from cudaDeviceGetAttribute(): CUDA 13 dropped the clocks and more from the struct
// cudaDeviceProp. "-" is what the back end does not have or know.
//
// --like=NAME: the numbers of a GPU that is not here, as it gave them once (recorded_gpus.h): all
// that follows from them can be computed without it.
//
// --warps=N --instructions=K: N warps of K instructions each take at least
// N * K / (SMs * schedulers) cycles, since a warp scheduler issues one instruction per cycle. (Some
// GPUs before Volta, compute capability 7.0, could issue two.)
//
// check: a property that both the attribute and the struct have must be the same in both; one with
// a single source must be possible at all; one that is computed must be what % peak refers to in
// the other exercises, or be a whole number where it counts things. (Of a GPU that is not here
// there is nothing to compare.)
//
//   ./lab run deviceQuery -- --warps=64K --instructions=1000
//   ./lab test deviceQuery
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target deviceQuery
//   build/ch03_execution_model/deviceQuery --warps=64K --instructions=1000
//   nvidia-smi -q -d CLOCK,MEMORY,ECC   (in place of a profiler, which sees kernels only)
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch03_execution_model/deviceQuery/deviceQuery.cu
//       common/*.cpp common/*.cu -o build/deviceQuery

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "lab.cuh"
#include "peaks.h"
#include "recorded_gpus.h"

// Prints the properties of one device, group by group.
struct Sheet {
    lab::Exercise& exercise;
    const RecordedGpu* recorded = nullptr;  // in place of a device
    int device = 0;
    lab::DeviceFacts facts;
    cudaDeviceProp p{};
    std::string group;
    bool groupPrinted = false;  // its name, above its first row

    Sheet(lab::Exercise& exercise, int device)
        : exercise(exercise), device(device), facts(lab::deviceFacts(device)) {
        CUDA_CHECK(cudaGetDeviceProperties(&p, device));
    }
    Sheet(lab::Exercise& exercise, const RecordedGpu& gpu) : exercise(exercise), recorded(&gpu) {
        std::snprintf(p.name, sizeof(p.name), "%s", gpu.name.c_str());
        p.totalGlobalMem = gpu.globalMemory;
        const int major = ask(cudaDevAttrComputeCapabilityMajor);
        facts.fp32Lanes =
            lab::fp32LanesPerMultiprocessor(major, ask(cudaDevAttrComputeCapabilityMinor));
        facts.schedulers = lab::schedulersPerMultiprocessor(major);
    }

    int ask(cudaDeviceAttr attribute) const {
        if (!recorded) return lab::deviceAttribute(attribute, device);
        const auto known = recorded->attributes.find(attribute);
        return known == recorded->attributes.end() ? 0 : known->second;
    }

    // The rows to come belong to it.
    void begin(const std::string& name) {
        group = name;
        groupPrinted = false;
    }

    // A row, if --kernel selects it; `right` is the check. No value: unknown. For a reader, the
    // meaning is a line below the row.
    void add(const std::string& name, const std::string& value, const std::string& unit,
             const std::string& meaning, bool right) {
        lab::Row row;
        row.kernel = group + ": " + name;
        if (!exercise.selected(row.kernel)) return;
        row.device = p.name;
        row.finding.wrong = right || recorded ? "" : "its sources disagree, or it is impossible";
        const std::string known = value.empty() ? "" : meaning;
        if (exercise.csv()) {
            row.finding.cells = {device, group, name, value, unit, known};
            exercise.row(row);
            return;
        }
        printGroup();
        row.finding.cells = {device, group, "  " + name, value.empty() ? "-" : value, unit};
        exercise.row(row);
        if (!known.empty()) exercise.note("      " + known);
    }
    void printGroup() {  // as a row that has nothing else
        if (groupPrinted) return;
        groupPrinted = true;
        lab::Row row;
        row.finding.cells = {"", "", group};
        row.finding.word = "";
        exercise.row(row);
    }

    // Whole numbers, each as attribute and as field of the struct; unknown where all are 0. A
    // meaning begins after the size in KiB, MiB ... where the unit is bytes.
    void sizes(const std::string& name,
               const std::vector<std::pair<cudaDeviceAttr, long long>>& sources,
               const std::string& unit, std::string meaning) {
        std::string value, other;
        bool known = false;
        for (const auto& [attribute, field] : sources) {
            const int size = ask(attribute);
            known = known || size != 0 || field != 0;
            value += (value.empty() ? "" : " x ") + std::to_string(size);
            other += (other.empty() ? "" : " x ") + std::to_string(field);
            if (unit == "bytes" && size >= 1024) meaning = lab::inBytes(size) + meaning;
        }
        const bool same = recorded || value == other;
        if (!same) value += " or " + other;
        add(name, known ? value : "", unit, meaning, same);
    }
    void yesNo(const std::string& name, cudaDeviceAttr attribute, int other,
               const std::string& meaning) {
        const int value = ask(attribute);
        add(name, value != 0 ? "yes" : "no", "", meaning,
            value == other && (value == 0 || value == 1));
    }
    // A number that is computed, or has a single source. 0 is unknown.
    void number(const std::string& name, double value, const std::string& unit,
                const std::string& meaning, bool right = true) {
        const int decimals = value == std::floor(value) ? 0 : value < 10 ? 4 : 1;
        add(name, value == 0 ? "" : lab::formatted("%.*f", decimals, value), unit, meaning, right);
    }
};

void addIdentity(Sheet& s) {
    s.begin("identity");
    s.add("name", s.p.name, "", "", s.p.name[0] != '\0');
    const int major = s.ask(cudaDevAttrComputeCapabilityMajor);
    const int minor = s.ask(cudaDevAttrComputeCapabilityMinor);
    s.add("compute capability", lab::formatted("%d.%d", major, minor), "",
          lab::formatted("generation and variant: sm_%d%d for nvcc", major, minor),
          major == s.p.major && minor == s.p.minor);
    if (s.recorded) return;  // the rest is not the GPU's, but that of the machine around it
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

// A clock has one source. 0 is unknown, and no GPU runs below 100 MHz or above 20 GHz.
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
             lab::inBytes(s.p.totalGlobalMem), s.p.totalGlobalMem > 0);  // needs 64 bits: a field
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
    if (s.recorded) return;  // nothing is computed from them
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

// The formulas with their values. The first two must agree with common/device.cpp, to which % peak
// refers in the other exercises. An emulation says a GPU's clocks, and has no peaks.
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

int main(int argc, char** argv) {
    std::uint64_t warps, instructions;
    std::string like;
    lab::Exercise exercise("deviceQuery",
                           "Limits and peaks of the hardware: all devices, or that of --device.");
    exercise.option("warps", &warps, 64 << 10, 1, lab::kMaxSize, "warps of a kernel");
    exercise.option("instructions", &instructions, 1000, 1, lab::kMaxSize,
                    "that each warp executes");
    exercise.options().text("like", &like, "NAME", "one of " + namesOfRecordedGpus(),
                            "a GPU that is not here: one of " + namesOfRecordedGpus());
    exercise.parseOptions(argc, argv);
    const auto recorded = recordedGpus().find(like);
    if (!like.empty() && recorded == recordedGpus().end())
        exercise.reject("--like=" + like + ": expected one of " + namesOfRecordedGpus());
    // A GPU that is named must be there, as in every exercise, though nothing is asked of it.
    if (like.empty() || exercise.given("device")) exercise.selectDevice();

    exercise.columns(lab::Columns::kPlain, {{"", 0, "number"},
                                            {"", 0, "group"},
                                            {"property", -28, "property"},
                                            {"value", 26, "value"},
                                            {"unit", -9, "unit"},
                                            {"", 0, "meaning"}});
    if (!like.empty()) {
        Sheet sheet(exercise, recorded->second);
        exercise.note(
            lab::formatted("deviceQuery: not asked here, but recorded: %s", sheet.p.name));
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
            "Its clocks, bus width and L2 cache are an H200's, or those of CUDA_EMULATOR_GPU.");
        addAll(sheet, warps, instructions);
    }
    return exercise.finish();
}
