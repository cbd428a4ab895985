// Parameters that are references: to managed, page-locked and device memory, whatever launches the
// kernel. The kernel gets the object itself.
#include <new>

#include "expect.cuh"

struct Box {
    int value;
    void* operator new(std::size_t size) {
        void* memory;
        CHECK(cudaMallocManaged(&memory, size));
        return memory;
    }
    void operator delete(void* memory) { cudaFree(memory); }
};

__managed__ Box managedBox = {10};
__device__ int onDevice = 1;

__global__ void twice(Box& box) {
    box.value *= 2;
}
__global__ void add(const Box& from, Box& to, int count = 1) {
    to.value += from.value * count;
}
template <class T>
__global__ void addTo(T& to, T value) {
    to += value;
}
template <class T, int N>
__global__ void fill(T (&array)[N], const T& value) {
    if (threadIdx.x < N) array[threadIdx.x] = value;
}
__global__ void addToDevice(int& value) {
    value += 2;
}
__global__ void parent(Box& box, int* seen) {
    *seen = box.value;
    twice<<<1, 1>>>(box);
    addToDevice<<<1, 1>>>(onDevice);
}
__global__ void readDevice(int* value) {
    *value = onDevice;
}

int main() {
    Box* box = new Box{4};
    EXPECT_AFTER(box->value == 8, twice<<<1, 1>>>(*box));
    EXPECT_AFTER(managedBox.value == 20, twice<<<1, 1>>>(managedBox));
    EXPECT_AFTER(box->value == 28, add<<<1, 1>>>(managedBox, *box));
    EXPECT_AFTER(box->value == 8, add<<<1, 1>>>(managedBox, *box, -1));

    int *number, *pinned, *seen;
    CHECK(cudaMalloc(&number, sizeof(int)));
    CHECK(cudaMemset(number, 0, sizeof(int)));
    addTo<<<1, 1>>>(*number, 5);
    addTo<int><<<1, 1>>>(*number, 6);
    EXPECT(fetch(number) == 11);
    CHECK(cudaMallocHost(&pinned, 4 * sizeof(int)));
    *pinned = 3;
    EXPECT_AFTER(*pinned == 6, addTo<<<1, 1>>>(pinned[0], *pinned));
    fill<<<1, 32>>>(*reinterpret_cast<int(*)[4]>(pinned), *number);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; ++i) EXPECT(pinned[i] == 11);

    void (*pointer)(Box&) = twice;
    EXPECT_AFTER(box->value == 16, pointer<<<1, 1>>>(*box));
    void* arguments[] = {&box};  // where the object's address is
    CHECK(cudaLaunchKernel((void*)twice, 1, 1, arguments));
    CHECK(cudaLaunchCooperativeKernel((void*)twice, 1, 1, arguments));
    CHECK(cudaDeviceSynchronize());
    EXPECT(box->value == 64);

    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    twice<<<1, 1, 0, stream>>>(*box);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    box->value = 3;
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(box->value == 12);

    CHECK(cudaMallocManaged(&seen, sizeof(int)));
    EXPECT_AFTER(*seen == 12 && box->value == 24, parent<<<1, 1>>>(*box, seen));
    EXPECT_AFTER(*seen == 3, readDevice<<<1, 1>>>(seen));
    delete box;
}
