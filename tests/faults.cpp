// Lets one launch or one copy of an exercise go wrong: linked into NAME_faulty with the linker's
// --wrap (cmake/TestPrograms.cmake), which puts these functions before the emulator's own. Two
// environment variables, for tests/faulty_exercise.py:
//
// LAB_FAULT        launch K     the launch of this number, from 0, does nothing
//                  refused K    it fails: its block has no threads
//                  copy K BYTE  of the copy of this number to the host, this byte arrives with one
//                               bit changed
// LAB_FAULT_NOTES  a file that gets a line for each of them: "launch", or "copy BYTES"
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "wrapped.h"

#define LAB_LAUNCH "_ZN3emu6launchERKNS_12LaunchConfigENS_10KernelCallE"
#define LAB_COPY "_Z10cudaMemcpyPvPKvm14cudaMemcpyKind"

cudaError_t realLaunch(const emu::LaunchConfig&, emu::KernelCall) LAB_BEHIND(LAB_LAUNCH);
cudaError_t launchOrNot(const emu::LaunchConfig&, emu::KernelCall) LAB_WRAPPED(LAB_LAUNCH);
cudaError_t realCopy(void*, const void*, size_t, cudaMemcpyKind) LAB_BEHIND(LAB_COPY);
cudaError_t copyOrDamage(void*, const void*, size_t, cudaMemcpyKind) LAB_WRAPPED(LAB_COPY);

namespace {

struct Fault {
    std::string kind;
    size_t number = 0;
    size_t byte = 0;

    Fault() {
        char word[16] = "";
        const char* const text = std::getenv("LAB_FAULT");
        if (text != nullptr) std::sscanf(text, "%15s %zu %zu", word, &number, &byte);
        kind = word;
    }
};

const Fault& wanted() {
    static const Fault fault;
    return fault;
}

void note(const std::string& what) {
    const char* const path = std::getenv("LAB_FAULT_NOTES");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
    if (file == nullptr) return;
    std::fprintf(file, "%s\n", what.c_str());
    std::fclose(file);
}

}  // namespace

cudaError_t launchOrNot(const emu::LaunchConfig& config, emu::KernelCall call) {
    static std::atomic<size_t> launches{0};  // host threads and blocks launch at the same time
    note("launch");
    const bool faulty = wanted().number == launches++;
    if (faulty && wanted().kind == "launch") return cudaSuccess;
    emu::LaunchConfig changed = config;
    if (faulty && wanted().kind == "refused") changed.block = dim3(0);
    return realLaunch(changed, call);
}

cudaError_t copyOrDamage(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    static size_t copies = 0;
    const cudaError_t error = realCopy(to, from, bytes, kind);
    if (kind != cudaMemcpyDeviceToHost) return error;
    note("copy " + std::to_string(bytes));
    const bool damaged = wanted().kind == "copy" && wanted().number == copies++;
    if (damaged && wanted().byte < bytes) static_cast<char*>(to)[wanted().byte] ^= 0x40;
    return error;
}
