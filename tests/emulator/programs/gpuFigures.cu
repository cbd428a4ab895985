// CUDA_EMULATOR_GPU says whose clock rates, bus width and L2 cache the device has: here the GPU
// that the command line names, or nobody, which is an H200. And clocks tick as they say.
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "expect.cuh"

// By NVIDIA's data sheets, but for the L2 cache and the bandwidth of the H200, which are recorded.
struct Sheet {
    const char* name;
    double gigabytes, teraflops;  // peaks per second; of FP32
    int cores, mebibytes;         // of the L2 cache
};
const std::map<std::string, Sheet> sheets = {
    {"h200", {"H200", 4814, 66.9, 16896, 60}}, {"h100", {"H100", 3350, 66.9, 16896, 50}},
    {"a100", {"A100", 1555, 19.5, 6912, 40}},  {"v100", {"V100", 900, 15.7, 5120, 6}},
    {"t4", {"T4", 320, 8.1, 2560, 4}},
};

static int attribute(cudaDeviceAttr which) {
    int value;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

static bool near(double value, double expected) {
    return std::fabs(value - expected) <= 0.01 * expected;
}

static void figures(const Sheet& sheet, bool chosen) {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT((std::string(p.name).find(sheet.name) != std::string::npos) == chosen);
    const double hertz = 1e3 * attribute(cudaDevAttrClockRate);
    const double memoryHertz = 1e3 * attribute(cudaDevAttrMemoryClockRate);
    const int bits = attribute(cudaDevAttrGlobalMemoryBusWidth);
    EXPECT(near(2 * memoryHertz * bits / 8, 1e9 * sheet.gigabytes));
    EXPECT(near(2 * hertz * sheet.cores, 1e12 * sheet.teraflops));
    EXPECT(attribute(cudaDevAttrL2CacheSize) == sheet.mebibytes << 20);
    EXPECT(attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) > 1);
    EXPECT(p.memoryBusWidth == bits && p.l2CacheSize == sheet.mebibytes << 20);

    // The limits are those of the emulation.
    EXPECT(p.major == 9 && p.minor == 0 && p.maxThreadsPerMultiProcessor == 2048);
    EXPECT(attribute(cudaDevAttrMaxThreadsPerMultiProcessor) == 2048);
}

// Readings of the three clocks, one within the other.
__global__ void readClocks(long long* t) {
    t[0] = emu::globaltimer();
    t[1] = clock64();
    t[2] = clock();
    t[3] = emu::globaltimer();
    while (emu::globaltimer() < t[3] + 100000ull) {
    }
    t[4] = emu::globaltimer();
    t[5] = clock();
    t[6] = clock64();
    t[7] = emu::globaltimer();
}

static void clocks() {
    long long *device, t[8];
    CHECK(cudaMalloc(&device, sizeof(t)));
    readClocks<<<1, 1>>>(device);
    CHECK(cudaMemcpy(t, device, sizeof(t), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    const double perNanosecond = 1e-6 * attribute(cudaDevAttrClockRate);
    EXPECT(t[6] - t[1] <= (t[7] - t[0]) * perNanosecond + 1);
    EXPECT(t[5] - t[2] <= t[6] - t[1]);
    EXPECT(t[5] - t[2] >= (t[4] - t[3]) * perNanosecond - 1);
}

// The host's clock() is what it always is.
static void hostClock() {
    const auto used = [] {
        timespec time;
        EXPECT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
        return (time.tv_sec * 1000000000 + time.tv_nsec) / (1000000000 / CLOCKS_PER_SEC);
    };
    const long before = used(), now = clock(), after = used();
    EXPECT(before <= now && now <= after);
}

int main(int argc, char** argv) {
    const std::string gpu = argc > 1 ? argv[1] : "h200";
    if (argc > 1) setenv("CUDA_EMULATOR_GPU", argv[1], 1);
    clocks();
    hostClock();
    figures(sheets.at(gpu), argc > 1);
    return 0;
}
