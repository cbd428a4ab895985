// For test_memory_functions.py: memcpy(), memmove(), memset() and what becomes of them, in kernels
// and on the host.
//
//   memory_functions CASE
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

constexpr int kThreads = 64, kCount = 1024;

struct Triple {
    int a, b, c;
};
struct Gaps {
    int number;
    double value;
};

// ---- each of these writes other values to one place

__global__ void copiesConstant(const Triple* in, Triple* out) {
    memcpy(out, &in[threadIdx.x], sizeof(Triple));  // copiesConstant
}
__global__ void copiesWord(const Triple* in, Triple* out) {
    memcpy(&out->a, &in[threadIdx.x].a, sizeof(int));  // copiesWord
}
__global__ void copiesVariable(const Triple* in, Triple* out, int n) {
    std::memcpy(out, &in[threadIdx.x], n);  // copiesVariable
}
__global__ void copiesBuiltin(const Triple* in, Triple* out) {
    __builtin_memcpy(out, &in[threadIdx.x], 12);  // copiesBuiltin
}
__global__ void moves(const Triple* in, Triple* out, int n) {
    memmove(out, &in[threadIdx.x], n);  // moves
}
__global__ void fills(Triple* out) {
    memset(out, static_cast<int>(threadIdx.x), sizeof(Triple));  // fills
}
__global__ void fillsByte(Triple* out) {
    memset(reinterpret_cast<char*>(out) + 5, static_cast<int>(threadIdx.x), 1);  // fillsByte
}
__global__ void copiesByPointer(const Triple* in, Triple* out) {
    const auto copy = &memcpy;
    copy(out, &in[threadIdx.x], sizeof(Triple));  // copiesByPointer
}
__global__ void fillsShared(int* out) {
    __shared__ int s[kThreads];
    memset(s, static_cast<int>(threadIdx.x), 8);  // fillsShared
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x % 2];
}

// ---- other hazards

__global__ void fillsBeyond(char* out) {
    memset(out + kCount, 0, kCount);  // fillsBeyond
}
__global__ void copiesUnwritten(const Triple* in, Triple* out) {
    memcpy(&out[threadIdx.x], &in[threadIdx.x], sizeof(Triple));  // copiesUnwritten
}
__global__ void copiesUnwrittenShared(int* out) {
    __shared__ int s[kThreads];
    memcpy(&out[threadIdx.x], &s[threadIdx.x], sizeof(int));  // copiesUnwrittenShared
}
__global__ void readsTooEarly(int* out) {
    __shared__ int s[kThreads];
    memset(&s[threadIdx.x], 0, sizeof(int));                       // early-fill
    memcpy(&out[threadIdx.x], &s[kThreads - 1 - threadIdx.x], 4);  // early-copy
}

// ---- right

__global__ void eachItsOwn(const Triple* in, Triple* out, int n) {
    __shared__ Triple s[kThreads];
    memcpy(&s[threadIdx.x], &in[threadIdx.x], n);
    __syncthreads();
    Triple mine;
    std::memcpy(&mine, &s[kThreads - 1 - threadIdx.x], sizeof(Triple));
    memmove(&out[threadIdx.x], &mine, sizeof(Triple));
    memset(&out[kThreads + threadIdx.x], 0, sizeof(Triple));
}
__global__ void bytesOfOneWord(char* out) {
    memset(out + threadIdx.x, static_cast<int>(threadIdx.x), 1);
}
__global__ void sameValue(int* out) {
    memset(out, 3, 4 * sizeof(int));
}
__global__ void gapsUnwritten(Gaps* out) {
    __shared__ Gaps s[kThreads];
    s[threadIdx.x].number = 1;
    s[threadIdx.x].value = 2;
    __syncthreads();
    memcpy(&out[threadIdx.x], &s[kThreads - 1 - threadIdx.x], sizeof(Gaps));
    const Gaps mine = s[threadIdx.x];
    out[kThreads + threadIdx.x] = mine;
}
__global__ void nothing(int* in, int* out) {
    memcpy(out, in, 0);
    memset(out, static_cast<int>(threadIdx.x), 0);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    std::vector<int> numbers(kCount);
    for (int i = 0; i < kCount; ++i) numbers[i] = i;
    int *in, *out, *unwritten;
    cudaMalloc(&in, kCount * sizeof(int));
    cudaMalloc(&out, kCount * sizeof(int));
    cudaMalloc(&unwritten, kCount * sizeof(int));
    cudaMemcpy(in, numbers.data(), kCount * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, kCount * sizeof(int));
    const auto from = reinterpret_cast<const Triple*>(in);
    const auto to = reinterpret_cast<Triple*>(out);
    const auto bytes = reinterpret_cast<char*>(out);
    constexpr int kSize = sizeof(Triple);
    // clang-format off
    const std::map<std::string, std::function<void()>> cases = {
        {"copiesConstant", [&] { copiesConstant<<<1, kThreads>>>(from, to); }},
        {"copiesWord", [&] { copiesWord<<<1, kThreads>>>(from, to); }},
        {"copiesVariable", [&] { copiesVariable<<<1, kThreads>>>(from, to, kSize); }},
        {"copiesBuiltin", [&] { copiesBuiltin<<<1, kThreads>>>(from, to); }},
        {"moves", [&] { moves<<<1, kThreads>>>(from, to, kSize); }},
        {"fills", [&] { fills<<<1, kThreads>>>(to); }},
        {"fillsByte", [&] { fillsByte<<<1, kThreads>>>(to); }},
        {"copiesByPointer", [&] { copiesByPointer<<<1, kThreads>>>(from, to); }},
        {"fillsShared", [&] { fillsShared<<<1, kThreads>>>(out); }},
        {"fillsBeyond", [&] { fillsBeyond<<<1, 1>>>(bytes + 3 * kCount - 16); }},
        {"copiesUnwritten", [&] {
             copiesUnwritten<<<1, kThreads>>>(reinterpret_cast<Triple*>(unwritten), to); }},
        {"copiesUnwrittenShared", [&] { copiesUnwrittenShared<<<1, kThreads>>>(out); }},
        {"readsTooEarly", [&] { readsTooEarly<<<1, kThreads>>>(out); }},
        {"eachItsOwn", [&] { eachItsOwn<<<1, kThreads>>>(from, to, kSize); }},
        {"bytesOfOneWord", [&] { bytesOfOneWord<<<1, kThreads>>>(bytes); }},
        {"sameValue", [&] { sameValue<<<1, kThreads>>>(out); }},
        {"gapsUnwritten", [&] { gapsUnwritten<<<1, kThreads>>>(reinterpret_cast<Gaps*>(unwritten)); }},
        {"nothing", [&] { nothing<<<1, kThreads>>>(unwritten, out); }},
        {"hostFills", [&] { nothing<<<1, 1>>>(in, out); memset(out, 0, kCount); }},  // hostFills
        {"hostCopies", [&] { nothing<<<1, 1>>>(in, out);
                             std::copy(in, in + kCount, numbers.begin()); }},  // hostCopies
    };
    // clang-format on
    cases.at(argv[1])();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
