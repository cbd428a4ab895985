// What the right programs for test_textbook.py share: each is a function that returns whether its
// result is right, and is told by its name.
#pragma once
#include <cstdio>
#include <cstring>
#include <vector>

// The device's copy of a vector; and a vector with what is in device memory.
template <typename T>
T* toDevice(const std::vector<T>& host) {
    T* device;
    cudaMalloc(&device, host.size() * sizeof(T));
    cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

template <typename T>
std::vector<T> toHost(const T* device, size_t count) {
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}

struct Program {
    const char* name;
    bool (*isRight)();
};

template <int kCount>
int runProgram(int argc, char** argv, const Program (&programs)[kCount]) {
    for (const Program& program : programs) {
        if (argc == 2 && std::strcmp(argv[1], program.name) == 0) {
            std::puts(program.isRight() ? "right" : "wrong");
            return 0;
        }
    }
    std::fprintf(stderr, "usage: %s PROGRAM\n", argv[0]);
    return 2;
}
