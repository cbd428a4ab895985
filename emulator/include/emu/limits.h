// Limits of the emulated device: those of compute capability 9.0 (CUDA C++ Programming Guide,
// "Compute Capabilities").
#pragma once

#include <cstddef>

namespace emu {

constexpr int kComputeMajor = 9;
constexpr int kComputeMinor = 0;
constexpr int kWarpSize = 32;
constexpr int kMaxThreadsPerBlock = 1024;
constexpr int kMaxBlockDim[3] = {1024, 1024, 64};
constexpr int kMaxGridDim[3] = {2147483647, 65535, 65535};
constexpr int kMaxThreadsPerSm = 2048;
constexpr int kMaxBlocksPerSm = 32;
constexpr int kRegistersPerSm = 65536;
constexpr int kRegistersPerBlock = 65536;
constexpr size_t kSharedPerBlock = 48 * 1024;        // without opting in
constexpr size_t kSharedPerBlockOptin = 227 * 1024;  // with cudaFuncSetAttribute()
constexpr size_t kSharedPerSm = 228 * 1024;
constexpr size_t kReservedSharedPerBlock = 1024;
constexpr size_t kConstantMemory = 64 * 1024;

}  // namespace emu
