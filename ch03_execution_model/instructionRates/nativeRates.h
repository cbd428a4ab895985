#pragma once
// This table says how many results a multiprocessor finishes in a cycle, by instruction and compute
// capability.
//
// The numbers come from NVIDIA's table "Throughput of Native Arithmetic Instructions" (CUDA C++
// Programming Guide up to CUDA 12, CUDA C++ Best Practices Guide since CUDA 13). The numbers for
// FP16 pairs come from the white papers of the architectures. 0 stands for a number that we do not
// know.

struct NativeRates {
    int major, minor;         // compute capability
    int fp32, fp16, fp64;     // additions, multiplications, multiply-adds; two for a pair of FP16
    int intAdd, intMultiply;  // 32 bits: additions and logical operations; multiply-adds
    int special;              // rsqrtf, __sinf, __cosf, __log2f, exp2f
};

inline NativeRates nativeRatesOf(int major, int minor) {
    static constexpr NativeRates kRates[] = {
        {7, 0, 64, 128, 32, 64, 64, 16},   // V100
        {7, 5, 64, 128, 2, 64, 64, 16},    // RTX 20, T4
        {8, 0, 64, 256, 32, 64, 64, 16},   // A100
        {8, 6, 128, 128, 2, 64, 64, 16},   // RTX 30, A40
        {8, 9, 128, 128, 2, 64, 64, 16},   // RTX 40, L40
        {9, 0, 128, 256, 64, 64, 64, 16},  // H100, H200
        {10, 0, 128, 0, 64, 0, 0, 16},     // B200
        {12, 0, 128, 128, 2, 0, 64, 16},   // RTX 50
    };
    for (const NativeRates& rates : kRates) {
        if (rates.major == major && rates.minor == minor) return rates;
    }
    return {major, minor, 0, 0, 0, 0, 0, 0};
}
