// Shifts and conversions out of range that are not written as such into a kernel: the kernel ends,
// and host code does what the processor does.
#include <cstdio>

#define SHIFTED(x, n) ((x) << (n))

__global__ void shiftInMacro(int* out, int n) {
    *out = SHIFTED(1, n);
}

__global__ void implicitly(int* out, float x) {
    *out = x;
}

__global__ void shiftOfBits(int* out, int n) {
    struct {
        int bits : 20;
    } s = {1};
    s.bits <<= n;
    *out = s.bits;
}

static cudaError_t statusOf(void (*launch)(int*), int expected) {
    int *out, value = -1;
    cudaMalloc(&out, sizeof(int));
    launch(out);
    const cudaError_t status = cudaMemcpy(&value, out, sizeof(int), cudaMemcpyDeviceToHost);
    if (status == cudaSuccess && value != expected) std::printf("wrong: %d\n", value);
    cudaDeviceReset();
    return status;
}

int main(int count, char**) {
    const cudaError_t status[] = {
        statusOf([](int* out) { shiftInMacro<<<1, 1>>>(out, 31); }, 1 << 31),
        statusOf([](int* out) { implicitly<<<1, 1>>>(out, -7.5f); }, -7),
        statusOf([](int* out) { shiftInMacro<<<1, 1>>>(out, 33); }, 0),
        statusOf([](int* out) { implicitly<<<1, 1>>>(out, 3e9f); }, 0),
        statusOf([](int* out) { shiftOfBits<<<1, 1>>>(out, 32); }, 0),
    };
    volatile int onHost = SHIFTED(1, 32 + count);
    onHost = onHost + static_cast<int>(3e9f * count);
    const bool ran = status[0] == cudaSuccess && status[1] == cudaSuccess;
    const bool failed =
        status[2] == status[3] && status[3] == status[4] && status[2] == cudaErrorLaunchFailure;
    return ran && failed ? 0 : 1;
}
