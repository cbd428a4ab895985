// For test_whole_structs.py: structs and vectors that are stored and loaded as a whole.
//
//   whole_structs CASE
#include <cstdio>
#include <functional>
#include <map>
#include <string>

constexpr int kThreads = 64;

struct Pair {
    float value;
    int index;
};
struct Row {
    int a[16];
};
struct Nested {
    float4 sum;
    int count;
};

__device__ float4 deviceSum;

__device__ float4 scaled(float4 v, float factor) {
    return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}
__device__ float4 operator+(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ float lengthOf(const float4& v) {
    return v.x + v.y;
}
__device__ int indexOf(Pair pair) {
    return pair.index;
}

// ---- each of these writes other values to one place

__global__ void pairs(const Pair* in, Pair* out) {
    out[0] = in[threadIdx.x];  // pairs
}
__global__ void vectors(const float4* in, float4* out) {
    out[0] = in[threadIdx.x];  // vectors
}
__global__ void rowsOfBlocks(const Row* in, Row* out) {
    out[0] = in[blockIdx.x];  // rowsOfBlocks
}
__global__ void ofLocal(Pair* out) {
    Pair pair = {1, static_cast<int>(threadIdx.x)};
    out[0] = pair;  // ofLocal
}
__global__ void ofFunction(float* out) {
    __shared__ float4 s;
    s = make_float4(threadIdx.x, 1, 2, 3);  // ofFunction
    __syncthreads();
    out[threadIdx.x] = s.x;
}
__global__ void memberOfFunction(float* out) {
    __shared__ Nested s;
    s.sum = make_float4(threadIdx.x, 1, 2, 3);  // memberOfFunction
    __syncthreads();
    out[threadIdx.x] = s.sum.x;
}
__global__ void deviceOfFunction() {
    deviceSum = make_float4(threadIdx.x, 1, 2, 3);  // deviceOfFunction
}

// ---- a barrier is missing before these loads

__global__ void argument(const float4* in, float4* out) {
    __shared__ float4 s[kThreads];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = scaled(s[kThreads - 1 - threadIdx.x], 2);  // argument
}
__global__ void operands(const float4* in, float4* out) {
    __shared__ float4 s[kThreads];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x] + s[kThreads - 1 - threadIdx.x];  // operands
}
__global__ void argumentByPointer(const Pair* in, int* out) {
    __shared__ Pair s[kThreads];
    s[threadIdx.x] = in[threadIdx.x];
    const Pair* const other = &s[kThreads - 1 - threadIdx.x];
    out[threadIdx.x] = indexOf(*other);  // argumentByPointer
}

// ---- right

__global__ void sameValue(const Row* in, Row* out) {
    out[0] = in[0];
}
__global__ void eachItsOwn(const float4* in, float4* out) {
    __shared__ float4 s[kThreads];
    __shared__ Nested only;
    s[threadIdx.x] = scaled(in[threadIdx.x], 2) + in[threadIdx.x];
    if (threadIdx.x == 0) {
        only.sum = make_float4(1, 2, 3, 4);
        only.count = indexOf({1, 2});
    }
    __syncthreads();
    out[threadIdx.x] = s[kThreads - 1 - threadIdx.x] + only.sum;
    out[threadIdx.x].x += lengthOf(s[threadIdx.x]) + static_cast<float>(only.count);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    static int numbers[4096];
    for (int i = 0; i < 4096; ++i) numbers[i] = i;
    void *in, *out;
    cudaMalloc(&in, sizeof(numbers));
    cudaMalloc(&out, sizeof(numbers));
    cudaMemcpy(in, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(numbers));
    const auto pairsIn = static_cast<const Pair*>(in);
    const auto vectorsIn = static_cast<const float4*>(in);
    const auto rowsIn = static_cast<const Row*>(in);
    const auto vectorsOut = static_cast<float4*>(out);
    const auto floatsOut = static_cast<float*>(out);
    const std::map<std::string, std::function<void()>> cases = {
        {"pairs", [&] { pairs<<<1, kThreads>>>(pairsIn, static_cast<Pair*>(out)); }},
        {"vectors", [&] { vectors<<<1, kThreads>>>(vectorsIn, vectorsOut); }},
        {"rowsOfBlocks", [&] { rowsOfBlocks<<<8, 1>>>(rowsIn, static_cast<Row*>(out)); }},
        {"ofLocal", [&] { ofLocal<<<1, kThreads>>>(static_cast<Pair*>(out)); }},
        {"ofFunction", [&] { ofFunction<<<1, kThreads>>>(floatsOut); }},
        {"memberOfFunction", [&] { memberOfFunction<<<1, kThreads>>>(floatsOut); }},
        {"deviceOfFunction", [&] { deviceOfFunction<<<1, kThreads>>>(); }},
        {"argument", [&] { argument<<<1, kThreads>>>(vectorsIn, vectorsOut); }},
        {"operands", [&] { operands<<<1, kThreads>>>(vectorsIn, vectorsOut); }},
        {"argumentByPointer",
         [&] { argumentByPointer<<<1, kThreads>>>(pairsIn, static_cast<int*>(out)); }},
        {"sameValue", [&] { sameValue<<<8, kThreads>>>(rowsIn, static_cast<Row*>(out)); }},
        {"eachItsOwn", [&] { eachItsOwn<<<1, kThreads>>>(vectorsIn, vectorsOut); }},
    };
    cases.at(argv[1])();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
