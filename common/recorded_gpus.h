#pragma once
// What GPUs that are not here have said of themselves, for deviceQuery --like=NAME. Those of the
// H200 are table.csv in the results of deviceQuery, and a test compares. Those of the two GTX are
// from a lecture (2019) that prints what NVIDIA's deviceQuery said; registers, shared memory and
// blocks of an SM from the tables of the CUDA C++ Programming Guide.

#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <string>

using Attributes = std::map<cudaDeviceAttr, int>;  // clocks in kHz, as CUDA has them

struct RecordedGpu {
    std::string name;
    std::size_t globalMemory;  // bytes
    Attributes attributes;
    int fp32Lanes = 0, schedulers = 0;  // of an SM; 0: as device.cuh has them
};

// Beside a GPU's own attributes, those that all of them have in common.
inline Attributes withCommon(Attributes own) {
    own.insert({
        {cudaDevAttrWarpSize, 32},
        {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
        {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
        {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
        {cudaDevAttrMaxThreadsPerBlock, 1024},
        {cudaDevAttrMaxBlockDimX, 1024},
        {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, 64},
        {cudaDevAttrMaxGridDimX, 2147483647},
        {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMaxGridDimZ, 65535},
        {cudaDevAttrMaxRegistersPerBlock, 65536},
        {cudaDevAttrMaxSharedMemoryPerBlock, 49152},
        {cudaDevAttrTotalConstantMemory, 65536},
        {cudaDevAttrMaxPitch, 2147483647},
        {cudaDevAttrTextureAlignment, 512},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrGpuOverlap, 1},
    });
    return own;
}

inline const std::map<std::string, RecordedGpu>& recordedGpus() {
    static const std::map<std::string, RecordedGpu> gpus = {
        {"gtx1080ti",
         {"GeForce GTX 1080 Ti", 11715084288,
          withCommon({
              {cudaDevAttrComputeCapabilityMajor, 6},
              {cudaDevAttrComputeCapabilityMinor, 1},
              {cudaDevAttrMultiProcessorCount, 28},
              {cudaDevAttrClockRate, 1683000},
              {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 98304},
              {cudaDevAttrCooperativeLaunch, 1},
              {cudaDevAttrMemoryClockRate, 5505000},
              {cudaDevAttrGlobalMemoryBusWidth, 352},
              {cudaDevAttrL2CacheSize, 2883584},
              {cudaDevAttrEccEnabled, 0},
              {cudaDevAttrAsyncEngineCount, 2},
          }),
          128, 4}},
        {"gtx960",
         {"GeForce GTX 960", 2092957696,
          withCommon({
              {cudaDevAttrComputeCapabilityMajor, 5},
              {cudaDevAttrComputeCapabilityMinor, 2},
              {cudaDevAttrMultiProcessorCount, 8},
              {cudaDevAttrClockRate, 1291000},
              {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 98304},
              {cudaDevAttrCooperativeLaunch, 0},
              {cudaDevAttrMemoryClockRate, 3600000},
              {cudaDevAttrGlobalMemoryBusWidth, 128},
              {cudaDevAttrL2CacheSize, 1048576},
              {cudaDevAttrEccEnabled, 0},
              {cudaDevAttrAsyncEngineCount, 2},
          }),
          128, 4}},
        {"h200",
         {"NVIDIA H200", 150109880320,
          withCommon({
              {cudaDevAttrComputeCapabilityMajor, 9},
              {cudaDevAttrComputeCapabilityMinor, 0},
              {cudaDevAttrMultiProcessorCount, 132},
              {cudaDevAttrClockRate, 1980000},
              {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 233472},
              {cudaDevAttrMaxSharedMemoryPerBlockOptin, 232448},
              {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
              {cudaDevAttrCooperativeLaunch, 1},
              {cudaDevAttrMemoryClockRate, 3201000},
              {cudaDevAttrGlobalMemoryBusWidth, 6016},
              {cudaDevAttrL2CacheSize, 62914560},
              {cudaDevAttrSurfaceAlignment, 512},
              {cudaDevAttrEccEnabled, 1},
              {cudaDevAttrAsyncEngineCount, 3},
          })}},
    };
    return gpus;
}

// "h200": all of them, for a reader.
inline std::string namesOfRecordedGpus() {
    std::string names;
    for (const auto& [name, gpu] : recordedGpus()) names += (names.empty() ? "" : ", ") + name;
    return names;
}
