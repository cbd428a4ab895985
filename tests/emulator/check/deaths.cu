// For test_deaths.py: programs that end by a signal.
//
//   deaths CASE
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

__global__ void work(int* out) {
    out[threadIdx.x] = 1;
}
__global__ void races(int* out) {
    *out = threadIdx.x;  // races
}
__global__ void aborts() {
    std::abort();  // aborts
}

static int* volatile nobody = nullptr;

static void readsNull() {
    std::printf("%d\n", *nobody);  // reads-null
}
static void readsNullAfterKernel() {
    int* memory;
    cudaMalloc(&memory, 128);
    work<<<1, 32>>>(memory);
    cudaDeviceSynchronize();
    readsNull();
}
static void readsNullAfterRace() {
    int* memory;
    cudaMalloc(&memory, 4);
    races<<<1, 32>>>(memory);
    readsNull();
}
static void abortsAfterKernel() {
    int* memory;
    cudaMalloc(&memory, 128);
    work<<<1, 32>>>(memory);
    cudaDeviceSynchronize();
    throw std::runtime_error("nobody catches this");  // throws
}
static void abortsInKernel() {
    aborts<<<1, 1>>>();
}
static void handlesItself() {
    for (const int number : {SIGSEGV, SIGABRT}) {
        std::signal(number, [](int) {
            std::fputs("handled\n", stderr);
            std::_Exit(3);
        });
    }
}
static void handlesFault() {
    handlesItself();
    readsNullAfterKernel();
}
static void handlesAbort() {
    handlesItself();
    abortsAfterKernel();
}
static void endsWell() {
    int* memory;
    cudaMalloc(&memory, 128);
    work<<<1, 32>>>(memory);
    cudaDeviceSynchronize();
}

#define NAMED(name) {#name, name}
// clang-format off
const std::map<std::string, void (*)()> kCases = {
    NAMED(readsNull), NAMED(readsNullAfterKernel), NAMED(readsNullAfterRace),
    NAMED(abortsAfterKernel), NAMED(abortsInKernel), NAMED(handlesFault), NAMED(handlesAbort),
    NAMED(endsWell),
};
// clang-format on

int main(int argc, char** argv) {
    const auto found = argc == 2 ? kCases.find(argv[1]) : kCases.end();
    if (found == kCases.end()) return 2;
    found->second();
    return 0;
}
