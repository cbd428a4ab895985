// A launch in every place and spelling that C++ and CUDA allow.
#include <tuple>
#include <vector>

#include "expect.cuh"

// don't parse a comment: k<<<1, "
__global__ void add(int* p, int value = 1) {
    atomicAdd(p, value);
}
__global__ void over(int* p) {
    atomicAdd(p, 1);
}
__global__ void over(int* p, float) {
    atomicAdd(p, 2);
}
template <int A, int B = 2>
__global__ void product(int* p) {
    atomicAdd(p, A * B);
}
template <class A, class B>
__global__ void sum(int* p, A a, B b) {
    atomicAdd(p, static_cast<int>(a + b));
}
template <template <class> class C, class T>
__global__ void sizeOf(int* p, C<T> value) {
    atomicAdd(p, static_cast<int>(sizeof(value)));
}
template <class... T>
__global__ void pack(int* p, T... values) {
    atomicAdd(p, (0 + ... + static_cast<int>(values)));
}
template <class T>
struct Box {
    T value;
};
__global__ void unbox(Box<int> box, int* p) {
    atomicAdd(p, box.value);
}
extern "C" __global__ void plainC(int* p) {
    atomicAdd(p, 1000);
}
namespace outer {
inline namespace v1 {
__global__ void inner(int* p) {
    atomicAdd(p, 5);
}
}  // namespace v1
namespace {
__global__ void hidden(int* p) {
    atomicAdd(p, 6);
}
}  // namespace
}  // namespace outer

using Kernel = void (*)(int*, int);

template <class T>
struct Traits {
    static constexpr Kernel kernel = add;
    template <int N>
    void run(int* p) const {
        product<N><<<1, 1>>>(p);
        Traits<Box<T>>::kernel<<<1, 1>>>(p, 1);
    }
};

struct Runner {
    Kernel kernel = add, kernels[2] = {add, &add};
    dim3 grid{1}, block{1};
    Kernel choose() const { return kernel; }
    void run(int* p) {
        this->kernel<<<grid, this->block>>>(p, 1);
        kernels[1]<<<1, 1>>>(p, 2);
        choose()<<<1, 1>>>(p, 3);
        (*kernel)<<<1, 1>>>(p, 4);
    }
};

static void runAndReturn(int* p) {
    return add<<<1, 1>>>(p, 1);
}

template <int N>
constexpr int blocksFor(int n) {
    return (n + N - 1) / N;
}

static int* p;

#define GIVES(expected, ...)                  \
    do {                                      \
        CHECK(cudaMemset(p, 0, sizeof(int))); \
        __VA_ARGS__;                          \
        EXPECT(fetch(p) == (expected));       \
    } while (0)

int main() {
    CHECK(cudaMalloc(&p, sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int n = 100;
    bool yes = true;

    // clang-format off
    GIVES(15, add<<<1, 1, 0>>>(p, 3); add<<<1, 1, 0, 0>>>(p, 3); add<<<1, 1, 0, stream>>>(p, 4);
          add<<<1, 1, 16 * sizeof(float), stream>>>(p, 5));
    GIVES(128, add<<<(n + 31) / 32, 32>>>(p, 1));
    GIVES(12, add<<<4>>>(p, 3));
    GIVES(24, add<<<n >> 5, 1 << 3>>>(p, 1));
    GIVES(4, add<<<n > 50 ? 2 : 1, n < 500>>>(p, 1); add<<<1, (n > 3) + 1>>>(p, 1));
    GIVES(6, add<<<{1, 2, 1}, {3}>>>(p, 1));
    GIVES(12, add<<<dim3{1, 2}, dim3(3, 2)>>>(p, 1));
    GIVES(8, add<<<blocksFor<256>(1000), 2, sizeof(std::tuple<int, float>) * 4>>>(p, 1));
    GIVES(8, add
          <<<
              2,  // blocks
              4   /* threads > 3 */
          >>>
          (
              p,
              1
          ));
    GIVES(1 + 2 * n, add<<<1, 1>>>(p, n > 5 ? 1 : 2); add<<<1, 1>>>(p, n << 1));

    GIVES(6 + 8 + 97 * 2, product<2, 3><<<1, 1>>>(p); product<(8 >> 1)><<<1, 1>>>(p);
          product<'a'><<<1, 1>>>(p));
    GIVES(9, sum<int, float><<<1, 1>>>(p, 1, 2.5f);
          sum<unsigned char, long long><<<1, 1>>>(p, 1, 2); sum<<<1, 1>>>(p, 1, 2u));
    GIVES(8 + 1 + 4, sizeOf<Box, double><<<1, 1>>>(p, Box<double>{1});
          sizeOf<Box><<<1, 1>>>(p, Box<Box<char>>{}); sizeOf<<<1, 1>>>(p, Box<int>{}));
    GIVES(1 + 2 + 97 + 3, pack<<<1, 1>>>(p, 1, 2.5f, 'a'); pack<int, double><<<1, 1>>>(p, 1, 2);
          pack<<<1, 1>>>(p));
    GIVES(3, over<<<1, 1>>>(p); over<<<1, 1>>>(p, 1.f));
    GIVES(7 + 8, unbox<<<1, 1>>>({7}, p); unbox<<<1, 1>>>(Box<int>{8}, p));
    GIVES(1000, plainC<<<1, 1>>>(p));
    GIVES(16, outer::inner<<<1, 1>>>(p); ::outer::v1::inner<<<1, 1>>>(p);
          outer::hidden<<<1, 1>>>(p));
    GIVES(5, using namespace outer; inner<<<1, 1>>>(p));

    Kernel pointer = add;
    std::vector<Kernel> list{add};
    auto deduced = product<3>;
    GIVES(15, pointer<<<1, 1>>>(p, 1); (*pointer)<<<1, 1>>>(p, 2);
          (&add)<<<1, 1>>>(p, 3); (yes ? add : nullptr)<<<1, 1>>>(p, 1);
          list[0]<<<1, 1>>>(p, 1); list.back()<<<1, 1>>>(p, 1); deduced<<<1, 1>>>(p));
    GIVES(10, Runner().run(p));
    GIVES(7, Traits<int>().run<3>(p));
    GIVES(3, [&](int v) { add<<<1, 1>>>(p, v); }(3));

    GIVES(1, if (n > 1) add<<<1, 1>>>(p, 1); else add<<<1, 1>>>(p, 2));
    GIVES(6, for (int i = 0; i < 3; ++i) add<<<1, 1>>>(p, i), add<<<1, 1>>>(p, 1));
    GIVES(3, for (int i = 0; i < 3; add<<<1, 1>>>(p, 1), ++i) {});
    GIVES(2, do add<<<1, 1>>>(p, 1); while (--n > 98));
    GIVES(4, switch (n) { case 98: add<<<1, 1>>>(p, 4); break; default: add<<<1, 1>>>(p, 5); });
    GIVES(1, yes ? add<<<1, 1>>>(p, 1) : add<<<1, 1>>>(p, 2));
    GIVES(1, runAndReturn(p));
    // clang-format on

    int value = 7;
    void* arguments[] = {&p, &value};
    GIVES(28, CHECK(cudaLaunchKernel((void*)add, dim3(1), dim3(1), arguments, 0, stream));
          CHECK(cudaLaunchKernel((const void*)&add, 1, 1, arguments));
          CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(add), 1, 1, arguments, 0, NULL));
          CHECK(cudaLaunchKernel(add, 1, 1, arguments)));

#if 0
    do not parse this either: add<<<1
#endif
    const char *text = "add<<<1, 1>>>(p);", *raw = R"(k<<<1>>>(" ))";
    EXPECT(text[3] == '<' && raw[1] == '<');
    return cudaDeviceSynchronize();
}
