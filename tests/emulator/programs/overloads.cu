// A kernel's name that other functions have, too; and NVTX, which says nothing without a profiler.
#include <nvtx3/nvToolsExt.h>

#include "expect.cuh"

static void add(int* p, int value) {
    *p += value;
}
__global__ void add(int* p) {
    *p += 1;
}
__global__ void add(float* p) {
    *p += 0.5f;
}

__device__ int twice(int x) {
    return 2 * x;
}
__global__ void twice(int* p) {
    *p = twice(*p);
}

template <class T>
static void subtract(T* p, T value) {
    *p -= value;
}
__global__ void subtract(int* p) {
    *p -= 7;
}

int main() {
    int* i;
    float* f;
    CHECK(cudaMallocManaged(&i, sizeof(int)));
    CHECK(cudaMallocManaged(&f, sizeof(float)));
    *i = 10;
    *f = 10;

    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = 0xff00ff00;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "launches";
    nvtxRangePushEx(&attributes);
    const nvtxRangeId_t range = nvtxRangeStartA("all");
    nvtxMark("here");

    add<<<1, 1>>>(i);
    add<<<1, 1>>>(f);
    twice<<<1, 1>>>(i);
    subtract<<<1, 1>>>(i);
    CHECK(cudaDeviceSynchronize());
    add(i, 100);
    subtract(i, 1);

    nvtxRangeEnd(range);
    nvtxRangePop();
    EXPECT(*i == 114);
    EXPECT(*f == 10.5f);
}
