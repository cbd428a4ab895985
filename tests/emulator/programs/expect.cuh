// What these programs share: they end with status 1 at the first thing that is not as it should be.
#pragma once

#include <cstdio>
#include <cstdlib>

#define EXPECT(condition)                                                                \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)

#define CHECK(call) checkCuda(call, __FILE__, __LINE__)

inline void checkCuda(cudaError_t error, const char* file, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
    std::exit(1);
}

// A launch or several, and what holds when they have ended.
#define EXPECT_AFTER(condition, ...)    \
    do {                                \
        __VA_ARGS__;                    \
        CHECK(cudaDeviceSynchronize()); \
        EXPECT(condition);              \
    } while (0)

// One value out of device memory.
template <class T>
T fetch(const T* device) {
    T value;
    CHECK(cudaMemcpy(&value, device, sizeof(T), cudaMemcpyDeviceToHost));
    return value;
}
