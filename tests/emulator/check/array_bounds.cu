// For test_array_bounds.py: indices inside and outside of arrays that are declared with a size.
//
//   array_bounds CASE
#include <cstdio>
#include <functional>
#include <map>
#include <string>

constexpr int kThreads = 32;

struct Particle {
    float position[3];
    int cell;
};
struct Message {  // allocated longer, as in C
    int length;
    int text[1];
};
struct OpenMessage {
    int length;
    int text[];
};
union Bits {
    float number;
    unsigned char bytes[4];
};

__device__ int table[8];
__device__ int behindTable[8];

// ---- wrong: `last` is the number of elements

__global__ void local(const int* in, int* out, int last) {
    int window[8];
    for (int i = 0; i <= last; ++i) window[i] = in[i];  // local
    out[threadIdx.x] = window[0];
}
__global__ void below(int* out, int first) {
    int window[8] = {};
    out[threadIdx.x] = window[first - 1];  // below
}
__global__ void intoTheNext(int* out, int last) {
    __shared__ int sums[8];
    __shared__ int kept[64];
    kept[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i <= last; ++i) sums[i] = i;  // intoTheNext
    }
    __syncthreads();
    out[threadIdx.x] = kept[threadIdx.x] + sums[threadIdx.x % 8];
}
__global__ void intoTheNextRow(int* out, int step) {
    __shared__ int tile[4][8];
    const unsigned x = threadIdx.x % 8, y = threadIdx.x / 8;
    tile[y][x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (y < 3) out[threadIdx.x] = tile[y][x + step];  // intoTheNextRow
}
__global__ void rows(int* out, int last) {
    __shared__ int tile[4][8];
    tile[threadIdx.x / 8][threadIdx.x % 8] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[last][threadIdx.x % 8];  // rows
}
__global__ void intoTheMember(Particle* all, int last) {
    for (int i = 0; i <= last; ++i) all[threadIdx.x].position[i] = 0;  // intoTheMember
}
__global__ void intoTheVariable(int* out, int last) {
    out[threadIdx.x] = table[last];  // intoTheVariable
    behindTable[threadIdx.x % 8] = 0;
}
__global__ void beyondAll(int* out, int first) {
    __shared__ int temp[64];
    temp[first + threadIdx.x] = 1;  // beyondAll
    out[threadIdx.x] = static_cast<int>(threadIdx.x);
}
__global__ void beyondAllByPointer(int* out, int first) {
    __shared__ int temp[64];
    int* const p = temp;
    p[first + threadIdx.x] = 1;  // beyondAllByPointer
    out[threadIdx.x] = static_cast<int>(threadIdx.x);
}
__global__ void beforeAllByPointer(int* out, int first) {
    __shared__ int temp[64];
    int* const p = temp;
    p[static_cast<int>(threadIdx.x) - first] = 1;  // beforeAllByPointer
    out[threadIdx.x] = static_cast<int>(threadIdx.x);
}
__global__ void farBeyond(int* out, int first) {
    int window[8];
    window[first * 100000] = 1;  // farBeyond
    out[threadIdx.x] = window[0];
}

// ---- right

__device__ int sumOf(const int* first, const int* end) {
    int sum = 0;
    while (first < end) sum += *first++;
    return sum;
}
__global__ void lastElements(int* out, int last) {
    __shared__ int tile[4][8];
    int window[8];
    for (int i = 0; i < last; ++i) window[i] = i;
    tile[threadIdx.x / 8][threadIdx.x % 8] = window[last - 1];
    __syncthreads();
    out[threadIdx.x] = sumOf(&window[0], &window[last]) + sumOf(tile[3], &tile[3][last]);
}
__global__ void flexible(int* memory) {
    auto* message = reinterpret_cast<Message*>(memory);
    auto* open = reinterpret_cast<OpenMessage*>(memory + 64);
    message->text[threadIdx.x] = 1;
    open->text[threadIdx.x] = 2;
}
__global__ void otherTypes(int* out) {
    __shared__ int tile[4][8];
    auto& all = reinterpret_cast<int(&)[32]>(tile);
    all[threadIdx.x] = 1;
    __syncthreads();
    int* const flat = &tile[0][0];
    Bits bits;
    bits.number = 1;
    out[threadIdx.x] = flat[31 - threadIdx.x] + bits.bytes[threadIdx.x % 4];
}
template <int N>
__global__ void ofTemplate(int* out) {
    __shared__ int tile[N + 1];
    tile[threadIdx.x] = 1;
    if (threadIdx.x == 0) tile[N] = 2;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    int *in, *out;
    Particle* particles;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMalloc(&particles, 64 * sizeof(Particle));
    cudaMemset(in, 0, 256 * sizeof(int));
    const std::map<std::string, std::function<void()>> cases = {
        {"local", [&] { local<<<1, kThreads>>>(in, out, 8); }},
        {"below", [&] { below<<<1, 1>>>(out, 0); }},
        {"intoTheNext", [&] { intoTheNext<<<1, kThreads>>>(out, 8); }},
        {"intoTheNextRow", [&] { intoTheNextRow<<<1, kThreads>>>(out, 1); }},
        {"rows", [&] { rows<<<1, kThreads>>>(out, 4); }},
        {"intoTheMember", [&] { intoTheMember<<<1, kThreads>>>(particles, 3); }},
        {"intoTheVariable", [&] { intoTheVariable<<<1, 1>>>(out, 8); }},
        {"beyondAll", [&] { beyondAll<<<1, kThreads>>>(out, 36); }},
        {"beyondAllByPointer", [&] { beyondAllByPointer<<<1, kThreads>>>(out, 100); }},
        {"beforeAllByPointer", [&] { beforeAllByPointer<<<1, kThreads>>>(out, 8); }},
        {"farBeyond", [&] { farBeyond<<<1, 1>>>(out, 100); }},
        {"lastElements", [&] { lastElements<<<1, kThreads>>>(out, 8); }},
        {"flexible", [&] { flexible<<<1, kThreads>>>(in); }},
        {"otherTypes", [&] { otherTypes<<<1, kThreads>>>(out); }},
        {"ofTemplate", [&] { ofTemplate<kThreads><<<1, kThreads>>>(out); }},
    };
    cases.at(argv[1])();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
