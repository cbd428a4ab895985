// Lets launches and copies of an exercise go wrong: linked into NAME_faulty with the linker's
// --wrap (cmake/TestPrograms.cmake), which puts these functions before the emulator's own and that
// of common/ which prints a row. They count launches and copies to the host from 0, anew behind
// each row. Two environment variables, for tests/faulty_exercise.py:
//
// LAB_FAULTS       a list, in which a semicolon ends each entry:
//                  launch ROW K     behind so many rows, the launch of this number does nothing
//                  refused ROW K    it fails: its block has no threads
//                  copy ROW K BYTE  in the copy of this number, a bit of this byte changes
// LAB_FAULT_NOTES  a file that gets a line for each launch, copy and row: "launch STATEMENT", which
//                  is the same for all launches of a statement in the source; "copy BYTES"; "row"
#include <cuda_runtime.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lab.cuh"
#include "wrapped.h"

#define LAB_LAUNCH "_ZN3emu6launchERKNS_12LaunchConfigENS_10KernelCallE"
#define LAB_COPY "_Z10cudaMemcpyPvPKvm14cudaMemcpyKind"
#define LAB_ROW "_ZN3lab8Exercise3rowENS_3RowE"

cudaError_t realLaunch(const emu::LaunchConfig&, emu::KernelCall) LAB_BEHIND(LAB_LAUNCH);
cudaError_t launchOrNot(const emu::LaunchConfig&, emu::KernelCall) LAB_WRAPPED(LAB_LAUNCH);
cudaError_t realCopy(void*, const void*, size_t, cudaMemcpyKind) LAB_BEHIND(LAB_COPY);
cudaError_t copyOrDamage(void*, const void*, size_t, cudaMemcpyKind) LAB_WRAPPED(LAB_COPY);
void realRow(lab::Exercise*, lab::Row) LAB_BEHIND(LAB_ROW);
void notedRow(lab::Exercise*, lab::Row) LAB_WRAPPED(LAB_ROW);

namespace {

struct Fault {
    std::string kind;
    size_t row, number, byte;
};

std::vector<Fault> readFaults() {
    std::vector<Fault> faults;
    const char* text = std::getenv("LAB_FAULTS");
    while (text != nullptr && *text != '\0') {
        char kind[16] = "";
        Fault fault{"", 0, 0, 0};
        std::sscanf(text, "%15s %zu %zu %zu", kind, &fault.row, &fault.number, &fault.byte);
        fault.kind = kind;
        faults.push_back(fault);
        text = std::strchr(text, ';') + 1;
    }
    return faults;
}

// Host threads and blocks launch at the same time.
std::atomic<size_t> rows{0}, launches{0}, copies{0};

const Fault* faultOf(const char* kind, size_t number) {
    static const std::vector<Fault> faults = readFaults();
    for (const Fault& fault : faults)
        if (fault.kind == kind && fault.row == rows && fault.number == number) return &fault;
    return nullptr;
}

void note(const char* format, ...) {
    static const char* const path = std::getenv("LAB_FAULT_NOTES");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
    if (file == nullptr) return;
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(file, format, arguments);
    va_end(arguments);
    std::fclose(file);
}

}  // namespace

cudaError_t launchOrNot(const emu::LaunchConfig& config, emu::KernelCall call) {
    note("launch %p\n", reinterpret_cast<void*>(call.run));
    const size_t number = launches++;
    if (faultOf("launch", number) != nullptr) return cudaSuccess;
    emu::LaunchConfig changed = config;
    if (faultOf("refused", number) != nullptr) changed.block = dim3(0);
    return realLaunch(changed, std::move(call));
}

cudaError_t copyOrDamage(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    const cudaError_t error = realCopy(to, from, bytes, kind);
    if (kind != cudaMemcpyDeviceToHost) return error;
    note("copy %zu\n", bytes);
    const Fault* const fault = faultOf("copy", copies++);
    if (fault != nullptr && fault->byte < bytes) static_cast<char*>(to)[fault->byte] ^= 0x40;
    return error;
}

void notedRow(lab::Exercise* exercise, lab::Row row) {
    note("row\n");
    realRow(exercise, std::move(row));
    ++rows;
    launches = copies = 0;
}
