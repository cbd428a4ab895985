// Kernels that macros declare, and launches in, through and around macros.
#include <map>
#include <string>

#include "expect.cuh"

// The parameter's name is the one that everybody takes.
#define RUN(grid, block, kernel, ...)             \
    do {                                          \
        kernel<<<(grid), (block)>>>(__VA_ARGS__); \
        CHECK(cudaPeekAtLastError());             \
        CHECK(cudaDeviceSynchronize());           \
    } while (0)
#define LAUNCH_1D(k, n) k<<<((n) + 31) / 32, 32>>>
#define CONFIG(n) <<<((n) + 31) / 32, 32>>>
#define CALL(kernel, config, arguments) kernel<<<EXPAND config>>> arguments
#define EXPAND(...) __VA_ARGS__
#define CHECKED(...)               \
    do {                           \
        __VA_ARGS__;               \
        CHECK(cudaGetLastError()); \
    } while (0)

#define FOR_EACH(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define KERNEL(name) __global__ void name
#define UNARY(name, T, expression)                 \
    __global__ void name##Kernel(T* x, int n) {    \
        FOR_EACH(i, n) {                           \
            const T v = x[i];                      \
            x[i] = (expression);                   \
        }                                          \
    }                                              \
    static void name(T* x, int n) {                \
        name##Kernel<<<(n + 31) / 32, 32>>>(x, n); \
    }

UNARY(square, float, v* v)
UNARY(negate, int, -v)

KERNEL(addOne)(int* x, int n) {
    FOR_EACH(i, n) x[i] += 1;
}

template <class T>
__global__ void iota(T* x, int n) {
    FOR_EACH(i, n) x[i] = static_cast<T>(i);
}
#define INSTANTIATE(T) template __global__ void iota<T>(T*, int);
INSTANTIATE(float)
INSTANTIATE(int)

template <int Factor>
__global__ void times(int* x, int n) {
    FOR_EACH(i, n) x[i] *= Factor;
}
static void timesRuntime(int factor, int* x, int n) {
    switch (factor) {
#define CASE(N)                    \
    case N:                        \
        times<N><<<2, 32>>>(x, n); \
        break
        CASE(2);
        CASE(3);
        default:
            EXPECT(!"a factor without its case");
    }
}

#define DISPATCH(isDouble, ...)    \
    [&] {                          \
        if (isDouble) {            \
            using scalar = double; \
            return __VA_ARGS__();  \
        }                          \
        using scalar = float;      \
        return __VA_ARGS__();      \
    }()

int main() {
    const int n = 100;
    int* x;
    float* f;
    CHECK(cudaMallocManaged(&x, n * sizeof(int)));
    CHECK(cudaMallocManaged(&f, n * sizeof(double)));

    RUN(2, 32, iota, x, n);
    iota CONFIG(n)(f, n);
    square(f, n);
    negate(x, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(f[i] == static_cast<float>(i * i) && x[i] == -i);

    LAUNCH_1D(addOne, n)(x, n);
    RUN(dim3(2, 1, 1), dim3(32, 1), (times<3>), x, n);
    CALL(addOne, (2, 32), (x, n));
    CHECKED(times<2><<<1, 32>>>(x, n));
    timesRuntime(3, x, n);
    std::map<std::string, void (*)(int*, int)> byName{{"addOne", addOne}, {"twice", times<2>}};
    for (const auto& entry : byName) entry.second<<<1, 32>>>(x, n);
    byName["twice"]<<<1, 32>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(x[i] == ((((-i + 1) * 3 + 1) * 2 * 3) + 1) * 4);

    const size_t size = DISPATCH(true, [&] {
        iota<scalar><<<1, 64>>>(reinterpret_cast<scalar*>(f), n);
        return sizeof(scalar);
    });
    CHECK(cudaDeviceSynchronize());
    EXPECT(size == sizeof(double) && reinterpret_cast<double*>(f)[99] == 99);
    return 0;
}
