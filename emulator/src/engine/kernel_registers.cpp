#include "kernel_registers.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "emu/limits.h"
#include "program_symbols.h"

namespace emu {
namespace {

constexpr const char* kVariable = "CUDA_EMULATOR_REGISTERS";
constexpr int kUnit = 256;  // of a warp; common/occupancy_rules.h says where this is from

// By what the kernels are called in C++.
std::map<std::string, int> readRegisters() {
    std::map<std::string, int> known;
    const char* const told = std::getenv(kVariable);
    std::istringstream words(told == nullptr ? "" : told);
    for (std::string word; words >> word;) {
        const size_t colon = word.rfind(':');
        if (colon == std::string::npos) continue;
        known[demangled(word.substr(0, colon))] = std::atoi(word.c_str() + colon + 1);
    }
    return known;
}

}  // namespace

const bool registersAreKnown = std::getenv(kVariable) != nullptr;

int registersOf(const void* kernel, const char* launched) {
    static const std::map<std::string, int>& known = *new std::map(readRegisters());
    if (kernel != nullptr) {
        const auto own = known.find(functionName(kernel));
        return own == known.end() ? 0 : own->second;
    }
    int most = 0;
    for (const auto& [name, number] : known) {
        if (isCalled(name, launched)) most = std::max(most, number);
    }
    return most;
}

int registersOfBlock(int threads, int registers) {
    const int warps = (threads + kWarpSize - 1) / kWarpSize;
    const int ofWarp = (registers * kWarpSize + kUnit - 1) / kUnit * kUnit;
    return warps * ofWarp;
}

}  // namespace emu
