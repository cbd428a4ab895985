// Pinned, mapped, registered and managed memory, and what a pointer is said to point to.
#include <vector>

#include "expect.cuh"

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// Objects of such classes are seen by host and device.
struct Managed {
    void* operator new(size_t bytes) {
        void* memory;
        CHECK(cudaMallocManaged(&memory, bytes));
        return memory;
    }
    void operator delete(void* memory) { CHECK(cudaFree(memory)); }
};
struct List : Managed {
    int n;
    int* data;
    __host__ __device__ int sum() const {
        int result = 0;
        for (int i = 0; i < n; ++i) result += data[i];
        return result;
    }
};
__global__ void sumOf(const List* list, int* sum) {
    *sum = list->sum();
}

static cudaMemoryType typeOf(const void* pointer) {
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.type;
}

int main() {
    const int n = 1000, blocks = (n + 127) / 128;
    const size_t bytes = n * sizeof(float);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.canMapHostMemory && properties.managedMemory);

    float *a, *b, *c, *aOnDevice, *bOnDevice, *device;
    CHECK(cudaHostAlloc((void**)&a, bytes, cudaHostAllocMapped));
    CHECK(cudaHostAlloc((void**)&b, bytes, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    CHECK(cudaMallocHost((void**)&c, bytes));
    CHECK(cudaHostGetDevicePointer((void**)&aOnDevice, a, 0));
    CHECK(cudaHostGetDevicePointer((void**)&bOnDevice, b, 0));
    CHECK(cudaMalloc(&device, bytes));
    for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
    add<<<blocks, 128>>>(aOnDevice, bOnDevice, device, n);
    CHECK(cudaMemcpyAsync(c, device, bytes, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    for (int i = 0; i < n; ++i) EXPECT(c[i] == 3 * i);

    std::vector<float> own(n, 1);
    float* ownOnDevice;
    CHECK(cudaHostRegister(own.data(), bytes, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&ownOnDevice, own.data(), 0));
    add<<<blocks, 128>>>(ownOnDevice, ownOnDevice, ownOnDevice, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(own[0] == 2 && own[n - 1] == 2);

    List* list = new List;
    list->n = 10;
    CHECK(cudaMallocManaged(&list->data, 10 * sizeof(int), cudaMemAttachGlobal));
    for (int i = 0; i < 10; ++i) list->data[i] = i;
    int* sum;
    CHECK(cudaMallocManaged(&sum, sizeof(int)));
    CHECK(cudaMemPrefetchAsync(list->data, 10 * sizeof(int),
                               cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
    sumOf<<<1, 1>>>(list, sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*sum == 45 && list->sum() == 45);

    EXPECT(typeOf(device) == cudaMemoryTypeDevice &&
           typeOf(device + n - 1) == cudaMemoryTypeDevice);
    EXPECT(typeOf(a + 5) == cudaMemoryTypeHost && typeOf(own.data()) == cudaMemoryTypeHost);
    EXPECT(typeOf(list) == cudaMemoryTypeManaged && typeOf(&list) == cudaMemoryTypeUnregistered);
    CHECK(cudaHostUnregister(own.data()));
    EXPECT(typeOf(own.data()) == cudaMemoryTypeUnregistered);

    CHECK(cudaFree(list->data));
    delete list;
    CHECK(cudaFreeHost(a));
    CHECK(cudaFreeHost(b));
    CHECK(cudaFreeHost(c));
    CHECK(cudaFree(device));
    EXPECT(cudaFree(device) == cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(own.data()) == cudaErrorInvalidValue);
    return 0;
}
