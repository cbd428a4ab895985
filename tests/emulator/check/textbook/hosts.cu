// For test_textbook.py: right programs as textbooks and courses have them. These show what the host
// does: kinds of memory, copies, streams, events, measuring, symbols.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "programs.cuh"

#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t error = (call);                                                        \
        if (error != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

#define N 4096

__global__ void square(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * data[i];
}
static bool areSquares(const int* data, int n, int first = 0) {
    for (int i = 0; i < n; i++) {
        if (data[i] != (first + i) * (first + i)) return false;
    }
    return true;
}

// ---- streams and events

static bool streamsPinned() {
    const int streams = 4, chunk = N / streams;
    cudaStream_t stream[streams];
    for (int i = 0; i < streams; ++i) cudaStreamCreate(&stream[i]);
    int *h_data, *d_data;
    cudaMallocHost(&h_data, N * sizeof(int));
    cudaMalloc(&d_data, N * sizeof(int));
    for (int i = 0; i < N; ++i) h_data[i] = i;
    for (int i = 0; i < streams; ++i) {
        int offset = i * chunk;
        cudaMemcpyAsync(d_data + offset, h_data + offset, chunk * sizeof(int),
                        cudaMemcpyHostToDevice, stream[i]);
        square<<<chunk / 128, 128, 0, stream[i]>>>(d_data + offset, chunk);
        cudaMemcpyAsync(h_data + offset, d_data + offset, chunk * sizeof(int),
                        cudaMemcpyDeviceToHost, stream[i]);
    }
    for (int i = 0; i < streams; ++i) cudaStreamSynchronize(stream[i]);
    bool ok = areSquares(h_data, N);
    for (int i = 0; i < streams; ++i) cudaStreamDestroy(stream[i]);
    cudaFreeHost(h_data);
    cudaFree(d_data);
    return ok;
}

static bool streamsBreadthFirst() {
    const int chunk = N / 2;
    cudaStream_t stream0, stream1;
    CHECK(cudaStreamCreate(&stream0));
    CHECK(cudaStreamCreate(&stream1));
    int *host, *dev0, *dev1;
    CHECK(cudaHostAlloc((void**)&host, 4 * N * sizeof(int), cudaHostAllocDefault));
    CHECK(cudaMalloc((void**)&dev0, chunk * sizeof(int)));
    CHECK(cudaMalloc((void**)&dev1, chunk * sizeof(int)));
    for (int i = 0; i < 4 * N; i++) host[i] = i;
    const size_t bytes = chunk * sizeof(int);
    for (int i = 0; i < 4 * N; i += 2 * chunk) {
        CHECK(cudaMemcpyAsync(dev0, host + i, bytes, cudaMemcpyHostToDevice, stream0));
        CHECK(cudaMemcpyAsync(dev1, host + i + chunk, bytes, cudaMemcpyHostToDevice, stream1));
        square<<<chunk / 256, 256, 0, stream0>>>(dev0, chunk);
        square<<<chunk / 256, 256, 0, stream1>>>(dev1, chunk);
        CHECK(cudaMemcpyAsync(host + i, dev0, bytes, cudaMemcpyDeviceToHost, stream0));
        CHECK(cudaMemcpyAsync(host + i + chunk, dev1, bytes, cudaMemcpyDeviceToHost, stream1));
    }
    CHECK(cudaStreamSynchronize(stream0));
    CHECK(cudaStreamSynchronize(stream1));
    bool ok = areSquares(host, 4 * N);
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(dev0));
    CHECK(cudaFree(dev1));
    CHECK(cudaStreamDestroy(stream0));
    CHECK(cudaStreamDestroy(stream1));
    return ok;
}

static bool eventTiming() {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<int> data(N);
    std::iota(data.begin(), data.end(), 0);
    int* d_data;
    CHECK(cudaMalloc(&d_data, N * sizeof(int)));
    CHECK(cudaMemcpy(d_data, data.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaEventRecord(start, 0));
    square<<<(N + 255) / 256, 256>>>(d_data, N);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(cudaMemcpy(data.data(), d_data, N * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(d_data));
    return milliseconds >= 0 && areSquares(data.data(), N);
}

static bool chronoTiming() {
    int* data;
    cudaMallocManaged(&data, N * sizeof(int));
    for (int i = 0; i < N; i++) data[i] = i;
    square<<<1, 1>>>(data, 0);  // warm-up
    cudaDeviceSynchronize();
    auto begin = std::chrono::high_resolution_clock::now();
    square<<<N / 128, 128>>>(data, N);
    cudaDeviceSynchronize();
    auto end = std::chrono::high_resolution_clock::now();
    double seconds = std::chrono::duration<double>(end - begin).count();
    bool ok = seconds > 0 && areSquares(data, N);
    cudaFree(data);
    return ok;
}

__global__ void fill(int* data, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = value;
}
__global__ void addInto(int* sum, const int* a, const int* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}
static bool forkAndJoin() {
    cudaStream_t left, right;
    cudaEvent_t leftDone, rightDone;
    CHECK(cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&leftDone, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&rightDone, cudaEventDisableTiming));
    int *a, *b, *sum;
    CHECK(cudaMalloc(&a, N * sizeof(int)));
    CHECK(cudaMalloc(&b, N * sizeof(int)));
    CHECK(cudaMalloc(&sum, N * sizeof(int)));
    std::vector<int> result(N);
    for (int round = 0; round < 3; round++) {
        fill<<<N / 256, 256, 0, left>>>(a, N, round);
        fill<<<N / 256, 256, 0, right>>>(b, N, 10);
        CHECK(cudaEventRecord(rightDone, right));
        CHECK(cudaStreamWaitEvent(left, rightDone, 0));
        addInto<<<N / 256, 256, 0, left>>>(sum, a, b, N);
        CHECK(cudaEventRecord(leftDone, left));
        CHECK(cudaStreamWaitEvent(right, leftDone, 0));
    }
    CHECK(cudaStreamSynchronize(left));
    CHECK(cudaMemcpy(result.data(), sum, N * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(sum));
    CHECK(cudaEventDestroy(leftDone));
    CHECK(cudaEventDestroy(rightDone));
    CHECK(cudaStreamDestroy(left));
    CHECK(cudaStreamDestroy(right));
    return std::count(result.begin(), result.end(), 12) == N;
}

// While one buffer is worked on, the host fills the other.
static bool doubleBuffering() {
    const int chunk = 512, chunks = 9;
    cudaStream_t streams[2];
    int *host[2], *device[2];
    long long sum = 0, expected = 0;
    for (int i = 0; i < 2; i++) {
        cudaStreamCreate(&streams[i]);
        cudaHostAlloc(&host[i], chunk * sizeof(int), cudaHostAllocDefault);
        cudaMalloc(&device[i], chunk * sizeof(int));
    }
    for (int k = 0; k < chunks + 2; k++) {
        int buffer = k % 2;
        cudaStreamSynchronize(streams[buffer]);
        if (k >= 2) sum = std::accumulate(host[buffer], host[buffer] + chunk, sum);
        if (k >= chunks) continue;
        for (int i = 0; i < chunk; i++) {
            host[buffer][i] = k + i % 7;
            expected += (k + i % 7) * (k + i % 7);
        }
        cudaMemcpyAsync(device[buffer], host[buffer], chunk * sizeof(int), cudaMemcpyHostToDevice,
                        streams[buffer]);
        square<<<chunk / 128, 128, 0, streams[buffer]>>>(device[buffer], chunk);
        cudaMemcpyAsync(host[buffer], device[buffer], chunk * sizeof(int), cudaMemcpyDeviceToHost,
                        streams[buffer]);
    }
    for (int i = 0; i < 2; i++) {
        cudaStreamDestroy(streams[i]);
        cudaFreeHost(host[i]);
        cudaFree(device[i]);
    }
    return sum == expected;
}

// The host works until the event says that the device has done its part.
static bool pollsAnEvent() {
    int *host, *device, polls = 0;
    cudaHostAlloc(&host, N * sizeof(int), cudaHostAllocDefault);
    cudaMalloc(&device, N * sizeof(int));
    for (int i = 0; i < N; i++) host[i] = i;
    cudaEvent_t stop;
    cudaEventCreate(&stop);
    cudaMemcpyAsync(device, host, N * sizeof(int), cudaMemcpyHostToDevice, 0);
    square<<<N / 512, 512, 0, 0>>>(device, N);
    cudaMemcpyAsync(host, device, N * sizeof(int), cudaMemcpyDeviceToHost, 0);
    cudaEventRecord(stop, 0);
    while (cudaEventQuery(stop) == cudaErrorNotReady) polls++;
    bool ok = areSquares(host, N);
    cudaEventDestroy(stop);
    cudaFreeHost(host);
    cudaFree(device);
    return ok && polls >= 0;
}

static void CUDART_CB finished(void* data) {
    *(int*)data += 1;
}
static bool hostFunction() {
    int *d_data, called = 0;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&d_data, N * sizeof(int));
    for (int i = 0; i < 3; i++) {
        fill<<<N / 256, 256, 0, stream>>>(d_data, N, i);
        cudaLaunchHostFunc(stream, finished, &called);
    }
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(d_data);
    return called == 3;
}

static bool capturedGraph() {
    std::vector<int> h_data(N, 2);
    int* d_data;
    CHECK(cudaMalloc(&d_data, N * sizeof(int)));
    CHECK(cudaMemcpy(d_data, h_data.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 2; i++) square<<<N / 256, 256, 0, stream>>>(d_data, N);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&instance, graph, 0));
    for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(instance, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(h_data.data(), d_data, N * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaGraphExecDestroy(instance));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(d_data));
    return std::count(h_data.begin(), h_data.end(), 1 << 16) == N;
}

static bool streamOrderedMemory() {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    std::vector<int> h_data(N);
    for (int round = 0; round < 3; round++) {
        std::iota(h_data.begin(), h_data.end(), 0);
        int* d_data;
        CHECK(cudaMallocAsync(&d_data, N * sizeof(int), stream));
        CHECK(cudaMemcpyAsync(d_data, h_data.data(), N * sizeof(int), cudaMemcpyHostToDevice,
                              stream));
        square<<<N / 256, 256, 0, stream>>>(d_data, N);
        CHECK(cudaMemcpyAsync(h_data.data(), d_data, N * sizeof(int), cudaMemcpyDeviceToHost,
                              stream));
        CHECK(cudaFreeAsync(d_data, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamDestroy(stream));
    return areSquares(h_data.data(), N);
}

// ---- copies

__global__ void scaleRows(float* data, size_t pitch, int width, int height) {
    for (int r = blockIdx.x; r < height; r += gridDim.x) {
        float* row = (float*)((char*)data + r * pitch);
        for (int c = threadIdx.x; c < width; c += blockDim.x) row[c] *= 2;
    }
}
static bool pitchedRows() {
    const int width = 45, height = 30;
    float in[height][width], out[height][width];
    for (int i = 0; i < width * height; i++) in[i / width][i % width] = i;
    float* d_data;
    size_t pitch;
    cudaMallocPitch(&d_data, &pitch, width * sizeof(float), height);
    cudaMemcpy2D(d_data, pitch, in, sizeof(in[0]), width * sizeof(float), height,
                 cudaMemcpyHostToDevice);
    scaleRows<<<10, 32>>>(d_data, pitch, width, height);
    cudaMemcpy2D(out, sizeof(out[0]), d_data, pitch, width * sizeof(float), height,
                 cudaMemcpyDeviceToHost);
    cudaFree(d_data);
    for (int i = 0; i < width * height; i++) {
        if (out[i / width][i % width] != 2 * i) return false;
    }
    return true;
}
// The padding comes with the rows, and nobody looks at it.
static bool pitchedAsAWhole() {
    const int width = 45, height = 6;
    float* d_data;
    size_t pitch;
    cudaMallocPitch(&d_data, &pitch, width * sizeof(float), height);
    cudaMemset2D(d_data, pitch, 0, width * sizeof(float), height);
    scaleRows<<<2, 32>>>(d_data, pitch, width, height);
    std::vector<char> bytes(pitch * height);
    cudaMemcpy(bytes.data(), d_data, bytes.size(), cudaMemcpyDeviceToHost);
    cudaFree(d_data);
    for (int r = 0; r < height; r++) {
        const float* row = (const float*)(bytes.data() + r * pitch);
        for (int c = 0; c < width; c++) {
            if (row[c] != 0) return false;
        }
    }
    return true;
}

__global__ void evens(int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 2 == 0) out[i] = i;
}
static bool writtenPartOnly() {
    int out[256], *d_out;
    cudaMalloc(&d_out, sizeof(out));
    evens<<<2, 128>>>(d_out);
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    for (int i = 0; i < 256; i += 2) {
        if (out[i] != i) return false;
    }
    return true;
}
static bool partlyZeroed() {
    std::vector<int> out(256);
    int* d_out;
    cudaMalloc(&d_out, 256 * sizeof(int));
    cudaMemset(d_out, 0, 256 * sizeof(int));
    evens<<<2, 128>>>(d_out);
    cudaMemcpy(out.data(), d_out, 256 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    return std::accumulate(out.begin(), out.end(), 0) == 128 * 127;
}

// ---- symbols

__constant__ float weights[5];
__global__ void convolve(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < 5; k++) {
        int j = i + k - 2;
        if (j >= 0 && j < n) sum += in[j] * weights[k];
    }
    out[i] = sum;
}
static bool constantFilter() {
    const int n = 1000;
    const float h_weights[] = {1, 4, 6, 4, 1};
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = i % 10;
    cudaMemcpyToSymbol(weights, h_weights, sizeof(h_weights));
    float *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    convolve<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
    cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = std::max(0, 2 - i); k < std::min(5, n + 2 - i); k++)
            sum += in[i + k - 2] * h_weights[k];
        if (out[i] != sum) return false;
    }
    return true;
}

struct Sphere {
    float x, y, z, radius;
    char material;
};
__constant__ Sphere spheres[8];
__global__ void hits(int* nearest, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float best = 0;
    int material = 0;
    for (int i = 0; i < 8; i++) {
        float dx = x - spheres[i].x, dy = y - spheres[i].y;
        float inside = spheres[i].radius * spheres[i].radius - dx * dx - dy * dy;
        if (inside > 0 && spheres[i].z + sqrtf(inside) > best) {
            best = spheres[i].z + sqrtf(inside);
            material = spheres[i].material;
        }
    }
    nearest[y * w + x] = material;
}
static bool rayTracer() {
    const int w = 32;
    Sphere* temp = (Sphere*)malloc(sizeof(Sphere) * 8);
    for (int i = 0; i < 8; i++) {
        temp[i].x = temp[i].y = 4 * i + 2;
        temp[i].z = 10;
        temp[i].radius = 2;
        temp[i].material = (char)(i + 1);
    }
    cudaMemcpyToSymbol(spheres, temp, sizeof(Sphere) * 8);
    free(temp);
    int *d_nearest, nearest[w * w];
    cudaMalloc(&d_nearest, sizeof(nearest));
    hits<<<dim3(w / 16, w / 16), dim3(16, 16)>>>(d_nearest, w);
    cudaMemcpy(nearest, d_nearest, sizeof(nearest), cudaMemcpyDeviceToHost);
    cudaFree(d_nearest);
    for (int i = 0; i < 8; i++) {
        if (nearest[(4 * i + 2) * w + 4 * i + 2] != i + 1) return false;
    }
    return nearest[w - 1] == 0;
}

__device__ unsigned int counter;
__device__ float table[64];
__global__ void countOdd(const int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && data[i] % 2) atomicAdd(&counter, 1u);
}
__global__ void useTable() {
    table[threadIdx.x] *= 2;
}
static bool deviceCounter() {
    std::vector<int> data(N);
    for (int& value : data) value = rand() % 1000;
    int* d_data;
    cudaMalloc(&d_data, N * sizeof(int));
    cudaMemcpy(d_data, data.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    unsigned int count = 0;
    cudaMemcpyToSymbol(counter, &count, sizeof(count));
    countOdd<<<(N + 255) / 256, 256>>>(d_data, N);
    cudaMemcpyFromSymbol(&count, counter, sizeof(count));
    cudaFree(d_data);
    return count == std::count_if(data.begin(), data.end(), [](int v) { return v % 2; });
}
static bool deviceTable() {
    float values[64], *address;
    for (int i = 0; i < 64; i++) values[i] = i;
    cudaGetSymbolAddress((void**)&address, table);
    cudaMemcpy(address, values, sizeof(values), cudaMemcpyHostToDevice);
    useTable<<<1, 64>>>();
    cudaMemcpyFromSymbol(values, table, sizeof(values));
    for (int i = 0; i < 64; i++) {
        if (values[i] != 2 * i) return false;
    }
    return true;
}

// ---- managed and mapped memory

struct Node {
    int value;
    Node* next;
};
__global__ void sumList(const Node* head, int* sum) {
    for (const Node* node = head; node != nullptr; node = node->next) *sum += node->value;
}
__global__ void doubleList(Node* head) {
    for (Node* node = head; node; node = node->next) node->value *= 2;
}
static bool linkedList() {
    Node* head = NULL;
    int* sum;
    cudaMallocManaged(&sum, sizeof(int));
    *sum = 0;
    for (int i = 1; i <= 20; i++) {
        Node* node;
        cudaMallocManaged(&node, sizeof(Node));
        node->value = i;
        node->next = head;
        head = node;
    }
    doubleList<<<1, 1>>>(head);
    sumList<<<1, 1>>>(head, sum);
    cudaDeviceSynchronize();
    bool ok = *sum == 420;
    while (head) {
        Node* next = head->next;
        cudaFree(head);
        head = next;
    }
    cudaFree(sum);
    return ok;
}

// Objects whose memory is managed because of their base.
class Managed {
  public:
    void* operator new(size_t size) {
        void* memory;
        cudaMallocManaged(&memory, size);
        cudaDeviceSynchronize();
        return memory;
    }
    void operator delete(void* memory) {
        cudaDeviceSynchronize();
        cudaFree(memory);
    }
};
struct Tree : Managed {
    int key;
    Tree *left = nullptr, *right = nullptr;
    explicit Tree(int key) : key(key) {}
    ~Tree() {
        delete left;
        delete right;
    }
};
static void insert(Tree*& tree, int key) {
    if (tree == nullptr)
        tree = new Tree(key);
    else
        insert(key < tree->key ? tree->left : tree->right, key);
}
__global__ void contains(const Tree* tree, const int* keys, char* found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Tree* node = tree;
    while (node && node->key != keys[i]) node = keys[i] < node->key ? node->left : node->right;
    found[i] = node != nullptr;
}
static bool searchTree() {
    const int n = 100;
    Tree* tree = nullptr;
    for (int i = 0; i < 50; i++) insert(tree, i * 37 % 100);
    int* keys;
    char* found;
    cudaMallocManaged(&keys, n * sizeof(int));
    cudaMallocManaged(&found, n);
    std::iota(keys, keys + n, 0);
    contains<<<(n + 31) / 32, 32>>>(tree, keys, found, n);
    cudaDeviceSynchronize();
    std::vector<char> expected(n);
    for (int i = 0; i < 50; i++) expected[i * 37 % 100] = 1;
    bool ok = std::equal(found, found + n, expected.begin());
    delete tree;
    cudaFree(keys);
    cudaFree(found);
    return ok;
}

static bool managedAndLibrary() {
    int *in, *out;
    cudaMallocManaged(&in, N * sizeof(int));
    cudaMallocManaged(&out, N * sizeof(int));
    std::vector<int> numbers(N), copy(N);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::copy(numbers.begin(), numbers.end(), in);
    memcpy(out, in, N * sizeof(int));
    square<<<N / 256, 256>>>(out, N);
    cudaDeviceSynchronize();
    std::copy(out, out + N, copy.begin());
    long long sum = std::accumulate(out, out + N, 0LL);
    bool ok = std::equal(copy.begin(), copy.end(), out) && !std::equal(in, in + N, out) &&
              memcmp(in, numbers.data(), N * sizeof(int)) == 0 &&
              sum == std::inner_product(in, in + N, in, 0LL) && areSquares(&copy[0], N);
    memset(out, 0, N * sizeof(int));
    square<<<N / 256, 256>>>(out, N);
    cudaDeviceSynchronize();
    ok = ok && *std::max_element(out, out + N) == 0;
    std::fill(out, out + N, 3);
    std::swap(in, out);
    square<<<N / 256, 256>>>(in, N);
    cudaDeviceSynchronize();
    std::sort(in, in + N);
    ok = ok && in[0] == 9 && in[N - 1] == 9;
    cudaFree(in);
    cudaFree(out);
    return ok;
}

__managed__ int managedTotal = 0;
__managed__ int managedValues[256];
__global__ void addManaged() {
    atomicAdd(&managedTotal, managedValues[threadIdx.x]);
}
static bool managedVariables() {
    for (int i = 0; i < 256; i++) managedValues[i] = i;
    addManaged<<<1, 256>>>();
    cudaDeviceSynchronize();
    return managedTotal == 255 * 128;
}

static bool prefetched() {
    int device = 0, *data;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaMallocManaged(&data, N * sizeof(int)));
    for (int i = 0; i < N; i++) data[i] = i;
    cudaMemLocation gpu = {}, cpu = {};
    gpu.type = cudaMemLocationTypeDevice;
    gpu.id = device;
    cpu.type = cudaMemLocationTypeHost;
    CHECK(cudaMemPrefetchAsync(data, N * sizeof(int), gpu, 0, 0));
    square<<<N / 256, 256>>>(data, N);
    CHECK(cudaGetLastError());
    CHECK(cudaMemPrefetchAsync(data, N * sizeof(int), cpu, 0, 0));
    CHECK(cudaDeviceSynchronize());
    bool ok = areSquares(data, N);
    CHECK(cudaFree(data));
    return ok;
}

static bool zeroCopy() {
    int *h_data, *d_data;
    cudaHostAlloc(&h_data, N * sizeof(int), cudaHostAllocMapped | cudaHostAllocWriteCombined);
    for (int i = 0; i < N; i++) h_data[i] = i;
    cudaHostGetDevicePointer(&d_data, h_data, 0);
    square<<<N / 128, 128>>>(d_data, N);
    cudaDeviceSynchronize();
    bool ok = areSquares(h_data, N);
    cudaFreeHost(h_data);
    return ok;
}

static bool registered() {
    std::vector<int> data(N);
    std::iota(data.begin(), data.end(), 5);
    cudaHostRegister(data.data(), N * sizeof(int), cudaHostRegisterDefault);
    int* d_data;
    cudaMalloc(&d_data, N * sizeof(int));
    cudaMemcpyAsync(d_data, data.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    square<<<N / 256, 256>>>(d_data, N);
    cudaMemcpyAsync(data.data(), d_data, N * sizeof(int), cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    cudaHostUnregister(data.data());
    cudaFree(d_data);
    return areSquares(data.data(), N, 5);
}

// ---- structs

struct Particle {
    char kind;
    double mass;
    float position[3];
    bool alive;
};
__global__ void age(Particle* particles, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle p = particles[i];
    for (int k = 0; k < 3; k++) p.position[k] += 1;
    if (p.kind == 1) p.alive = false;
    particles[i] = p;
}
__global__ void create(Particle* particles, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    particles[i].kind = i % 3;
    particles[i].mass = i;
    for (int k = 0; k < 3; k++) particles[i].position[k] = k;
    particles[i].alive = true;
}
static bool arrayOfStructs() {
    const int n = 300;
    Particle *d_particles, *particles = new Particle[n];
    cudaMalloc(&d_particles, n * sizeof(Particle));
    create<<<3, 128>>>(d_particles, n);
    age<<<3, 128>>>(d_particles, n);
    cudaMemcpy(particles, d_particles, n * sizeof(Particle), cudaMemcpyDeviceToHost);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        Particle p = particles[i];
        ok = ok && p.kind == i % 3 && p.mass == i && p.position[2] == 3 && p.alive == (i % 3 != 1);
    }
    std::vector<Particle> dead;
    for (int i = 0; i < n; i++) {
        if (!particles[i].alive) dead.push_back(particles[i]);
    }
    cudaMemcpy(d_particles, dead.data(), dead.size() * sizeof(Particle), cudaMemcpyHostToDevice);
    age<<<1, 128>>>(d_particles, (int)dead.size());
    cudaMemcpy(dead.data(), d_particles, dead.size() * sizeof(Particle), cudaMemcpyDeviceToHost);
    cudaFree(d_particles);
    delete[] particles;
    return ok && dead.size() == 100 && dead[99].position[0] == 2;
}

struct Points {
    float *x, *y;
    int count;
    char name[3];
};
__global__ void mirror(Points points) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < points.count) {
        float t = points.x[i];
        points.x[i] = points.y[i];
        points.y[i] = t;
    }
}
static bool structOfArrays() {
    Points points = {nullptr, nullptr, 200, "ab"};
    float x[200], y[200];
    for (int i = 0; i < 200; i++) x[i] = i, y[i] = -i;
    cudaMalloc(&points.x, sizeof(x));
    cudaMalloc(&points.y, sizeof(y));
    cudaMemcpy(points.x, x, sizeof(x), cudaMemcpyHostToDevice);
    cudaMemcpy(points.y, y, sizeof(y), cudaMemcpyHostToDevice);
    mirror<<<4, 64>>>(points);
    cudaMemcpy(x, points.x, sizeof(x), cudaMemcpyDeviceToHost);
    cudaMemcpy(y, points.y, sizeof(y), cudaMemcpyDeviceToHost);
    cudaFree(points.x);
    cudaFree(points.y);
    return x[7] == -7 && y[7] == 7 && x[199] == -199;
}
// A struct in device memory whose members point to device memory.
struct Matrix {
    int width, height;
    float* elements;
};
__global__ void trace(const Matrix* matrix, float* sum) {
    if (threadIdx.x == 0) *sum = 0;
    __syncthreads();
    if (threadIdx.x < matrix->height)
        atomicAdd(sum, matrix->elements[threadIdx.x * matrix->width + threadIdx.x]);
}
static bool deepCopy() {
    Matrix matrix = {9, 9, nullptr}, *d_matrix;
    float elements[81], *d_sum, sum;
    for (int i = 0; i < 81; i++) elements[i] = i;
    cudaMalloc(&matrix.elements, sizeof(elements));
    cudaMemcpy(matrix.elements, elements, sizeof(elements), cudaMemcpyHostToDevice);
    cudaMalloc(&d_matrix, sizeof(Matrix));
    cudaMemcpy(d_matrix, &matrix, sizeof(Matrix), cudaMemcpyHostToDevice);
    cudaMalloc(&d_sum, sizeof(float));
    trace<<<1, 32>>>(d_matrix, d_sum);
    cudaMemcpy(&sum, d_sum, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(matrix.elements);
    cudaFree(d_matrix);
    cudaFree(d_sum);
    return sum == 360;
}

__global__ void scale4(const float4* in, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = in[i];
    v.x *= 2;
    v.y *= 2;
    v.z *= 2;
    v.w *= 2;
    out[i] = v;
}
static bool vectorLoads() {
    const int n = 1000;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = i;
    float *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale4<<<2, 128>>>(reinterpret_cast<float4*>(d_in), reinterpret_cast<float4*>(d_out), n / 4);
    cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < n; i++) {
        if (out[i] != 2 * in[i]) return false;
    }
    return true;
}

// ---- lives of allocations

static bool allocationsInLoop() {
    for (int round = 1; round <= 15; round++) {
        int n = 100 * round, *d_data;
        std::vector<int> data(n);
        CHECK(cudaMalloc(&d_data, n * sizeof(int)));
        fill<<<(n + 127) / 128, 128>>>(d_data, n, round);
        CHECK(cudaMemcpy(data.data(), d_data, n * sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_data));
        if (std::count(data.begin(), data.end(), round) != n) return false;
    }
    return true;
}

static bool buffersNeverFreed() {
    static int* buffers[12];
    for (int*& buffer : buffers) {
        cudaMalloc(&buffer, N * sizeof(int));
        cudaMemset(buffer, 0, N * sizeof(int));
    }
    int last = -1;
    for (int k = 1; k < 12; k++)
        addInto<<<N / 256, 256>>>(buffers[k], buffers[k - 1], buffers[0], N);
    cudaMemcpy(&last, buffers[11] + N - 1, sizeof(int), cudaMemcpyDeviceToHost);
    return last == 0;
}

template <typename T>
class DeviceArray {
  public:
    explicit DeviceArray(size_t count) : count(count) { CHECK(cudaMalloc(&data, bytes())); }
    explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
        CHECK(cudaMemcpy(data, host.data(), bytes(), cudaMemcpyHostToDevice));
    }
    DeviceArray(DeviceArray&& other) noexcept : data(other.data), count(other.count) {
        other.data = nullptr;
    }
    ~DeviceArray() { cudaFree(data); }
    T* get() { return data; }
    std::vector<T> toHost() const {
        std::vector<T> host(count);
        CHECK(cudaMemcpy(host.data(), data, bytes(), cudaMemcpyDeviceToHost));
        return host;
    }

  private:
    size_t bytes() const { return count * sizeof(T); }
    T* data;
    size_t count;
};
static DeviceArray<int> sumOf(DeviceArray<int> a, DeviceArray<int> b, int n) {
    DeviceArray<int> sum(n);
    addInto<<<(n + 255) / 256, 256>>>(sum.get(), a.get(), b.get(), n);
    return sum;
}
static bool deviceArrays() {
    std::vector<int> a(1000, 3), b(1000, 4);
    DeviceArray<int> sum = sumOf(DeviceArray<int>(a), DeviceArray<int>(b), 1000);
    return sum.toHost() == std::vector<int>(1000, 7);
}

struct CudaDeleter {
    void operator()(void* memory) const { cudaFree(memory); }
};
static bool uniquePointers() {
    int* raw;
    CHECK(cudaMalloc(&raw, N * sizeof(int)));
    std::unique_ptr<int[], CudaDeleter> data(raw);
    std::unique_ptr<int[]> host(new int[N]);
    std::iota(host.get(), host.get() + N, 0);
    CHECK(cudaMemcpy(data.get(), host.get(), N * sizeof(int), cudaMemcpyHostToDevice));
    square<<<N / 256, 256>>>(data.get(), N);
    CHECK(cudaMemcpy(host.get(), data.get(), N * sizeof(int), cudaMemcpyDeviceToHost));
    return areSquares(host.get(), N);
}

__global__ void sumRows(int** rows, int* sums, int cols) {
    int sum = 0;
    for (int c = 0; c < cols; c++) sum += rows[threadIdx.x][c];
    sums[threadIdx.x] = sum;
}
static bool pointersToRows() {
    const int rows = 10, cols = 20;
    int *h_rows[rows], **d_rows, *d_sums, sums[rows];
    for (int r = 0; r < rows; r++) {
        std::vector<int> row(cols, r);
        cudaMalloc(&h_rows[r], cols * sizeof(int));
        cudaMemcpy(h_rows[r], row.data(), cols * sizeof(int), cudaMemcpyHostToDevice);
    }
    cudaMalloc(&d_rows, sizeof(h_rows));
    cudaMalloc(&d_sums, sizeof(sums));
    cudaMemcpy(d_rows, h_rows, sizeof(h_rows), cudaMemcpyHostToDevice);
    sumRows<<<1, rows>>>(d_rows, d_sums, cols);
    cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost);
    for (int r = 0; r < rows; r++) cudaFree(h_rows[r]);
    cudaFree(d_rows);
    cudaFree(d_sums);
    for (int r = 0; r < rows; r++) {
        if (sums[r] != r * cols) return false;
    }
    return true;
}

// ---- shapes of launches

__global__ void number(int* out, int w, int h, int d) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < w && y < h && z < d) out[(z * h + y) * w + x] = x + 100 * y + 10000 * z;
}
static bool volume() {
    const int w = 13, h = 7, d = 9;
    static int out[d][h][w];
    int* d_out;
    cudaMalloc(&d_out, sizeof(out));
    dim3 block(4, 4, 4), grid((w + 3) / 4, (h + 3) / 4, (d + 3) / 4);
    number<<<grid, block>>>(d_out, w, h, d);
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    for (int z = 0; z < d; z++) {
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                if (out[z][y][x] != x + 100 * y + 10000 * z) return false;
            }
        }
    }
    return true;
}

__global__ void __launch_bounds__(1024) reverse(int* data) {
    __shared__ int s[1024];
    s[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = s[1023 - threadIdx.x];
}
static bool blocksOf1024() {
    int data[1024], *d_data;
    for (int i = 0; i < 1024; i++) data[i] = i;
    cudaMalloc(&d_data, sizeof(data));
    cudaMemcpy(d_data, data, sizeof(data), cudaMemcpyHostToDevice);
    reverse<<<1, 1024>>>(d_data);
    cudaMemcpy(data, d_data, sizeof(data), cudaMemcpyDeviceToHost);
    cudaFree(d_data);
    return data[0] == 1023 && data[1023] == 0 && data[1000] == 23;
}

static bool occupancyChooses() {
    int blockSize, minGridSize;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&minGridSize, &blockSize, square, 0, 0));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    if (blockSize > properties.maxThreadsPerBlock) return false;
    std::vector<int> host(N);
    std::iota(host.begin(), host.end(), 0);
    DeviceArray<int> data(host);
    square<<<(N + blockSize - 1) / blockSize, blockSize>>>(data.get(), N);
    CHECK(cudaPeekAtLastError());
    CHECK(cudaDeviceSynchronize());
    return areSquares(data.toHost().data(), N);
}

__global__ void largeTile(float* data) {
    extern __shared__ float large[];
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) large[i] = i;
    __syncthreads();
    if (threadIdx.x < 10) data[threadIdx.x] = large[16383 - threadIdx.x];
}
static bool optsInToMoreSharedMemory() {
    float data[10], *d_data;
    CHECK(cudaMalloc(&d_data, sizeof(data)));
    CHECK(cudaFuncSetAttribute(largeTile, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    largeTile<<<1, 256, 65536>>>(d_data);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(data, d_data, sizeof(data), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_data));
    return data[0] == 16383 && data[9] == 16374;
}

// An error that is expected, and asked for.
static bool asksForErrors() {
    int* d_data;
    CHECK(cudaMalloc(&d_data, N * sizeof(int)));
    fill<<<1, 2048>>>(d_data, N, 1);
    bool refused = cudaGetLastError() == cudaErrorInvalidConfiguration;
    fill<<<N / 1024, 1024>>>(d_data, N, 1);
    CHECK(cudaGetLastError());
    int last = 0;
    CHECK(cudaMemcpy(&last, d_data + N - 1, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_data));
    return refused && last == 1;
}

int main(int argc, char** argv) {
    return runProgram(argc, argv,
                      {{"streamsPinned", streamsPinned},
                       {"streamsBreadthFirst", streamsBreadthFirst},
                       {"eventTiming", eventTiming},
                       {"chronoTiming", chronoTiming},
                       {"forkAndJoin", forkAndJoin},
                       {"doubleBuffering", doubleBuffering},
                       {"pollsAnEvent", pollsAnEvent},
                       {"hostFunction", hostFunction},
                       {"capturedGraph", capturedGraph},
                       {"streamOrderedMemory", streamOrderedMemory},
                       {"pitchedRows", pitchedRows},
                       {"pitchedAsAWhole", pitchedAsAWhole},
                       {"writtenPartOnly", writtenPartOnly},
                       {"partlyZeroed", partlyZeroed},
                       {"constantFilter", constantFilter},
                       {"rayTracer", rayTracer},
                       {"deviceCounter", deviceCounter},
                       {"deviceTable", deviceTable},
                       {"linkedList", linkedList},
                       {"searchTree", searchTree},
                       {"managedAndLibrary", managedAndLibrary},
                       {"managedVariables", managedVariables},
                       {"prefetched", prefetched},
                       {"zeroCopy", zeroCopy},
                       {"registered", registered},
                       {"arrayOfStructs", arrayOfStructs},
                       {"structOfArrays", structOfArrays},
                       {"deepCopy", deepCopy},
                       {"vectorLoads", vectorLoads},
                       {"allocationsInLoop", allocationsInLoop},
                       {"buffersNeverFreed", buffersNeverFreed},
                       {"deviceArrays", deviceArrays},
                       {"uniquePointers", uniquePointers},
                       {"pointersToRows", pointersToRows},
                       {"volume", volume},
                       {"blocksOf1024", blocksOf1024},
                       {"occupancyChooses", occupancyChooses},
                       {"optsInToMoreSharedMemory", optsInToMoreSharedMemory},
                       {"asksForErrors", asksForErrors}});
}
