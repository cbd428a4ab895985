// __device__, __constant__ and __managed__ variables, from both sides.
#include "expect.cuh"

struct Parameters {
    int a;
    double b;
    char c[3];
};

__device__ float value;
__device__ int table[4] = {1, 2, 3, 4};
__device__ const int fixedTable[] = {10, 20, 30};
__constant__ int count = 5;
__constant__ float matrix[2][3];
__constant__ Parameters parameters;
__device__ Parameters written;
__device__ const double* pointer;
namespace inner {
__device__ int counter = 42;
__constant__ short shorts[3] = {7, 8, 9};
}  // namespace inner
template <class T>
__device__ T ofTemplate = T(3);
__device__ __managed__ int shared = 1;
__managed__ float managedArray[10];

__global__ void use(int* out) {
    value += 2.0f;
    out[0] = table[2] + count + fixedTable[1];
    out[1] = static_cast<int>(matrix[1][2] * 2);
    out[2] = parameters.a + static_cast<int>(parameters.b) + parameters.c[1];
    out[3] = inner::counter++ + inner::shorts[2];
    out[4] = static_cast<int>(ofTemplate<float> + *pointer);
    written.a = 77;
    written.b = 1.5;
    table[3] = -1;
    shared *= 10;
    managedArray[3] = managedArray[2] + 1;
}

int main() {
    const float pi = 3.14f;
    CHECK(cudaMemcpyToSymbol(value, &pi, sizeof(pi)));
    const float rows[6] = {1, 2, 3, 4, 5, 6}, last = 9;
    CHECK(cudaMemcpyToSymbol(matrix, rows, sizeof(rows), 0, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(matrix, &last, sizeof(last), 5 * sizeof(float)));
    const Parameters host = {1, 2.5, {3, 4, 5}};
    CHECK(cudaMemcpyToSymbol(parameters, &host, sizeof(host)));
    const int six = 6;
    CHECK(cudaMemcpyToSymbolAsync(count, &six, sizeof(six), 0, cudaMemcpyHostToDevice, 0));
    const double seven = 7;
    double* number;
    CHECK(cudaMalloc(&number, sizeof(double)));
    CHECK(cudaMemcpy(number, &seven, sizeof(seven), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(pointer, &number, sizeof(number)));
    shared = 5;
    managedArray[2] = 2.5f;

    int *out, got[5];
    CHECK(cudaMalloc(&out, sizeof(got)));
    use<<<1, 1>>>(out);
    CHECK(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    EXPECT(got[0] == 3 + 6 + 20 && got[1] == 18 && got[2] == 1 + 2 + 4);
    EXPECT(got[3] == 42 + 9 && got[4] == 10);
    EXPECT(shared == 50 && managedArray[3] == 3.5f);

    float sum;
    CHECK(cudaMemcpyFromSymbol(&sum, value, sizeof(sum)));
    EXPECT(sum == pi + 2.0f);
    float* address;
    CHECK(cudaGetSymbolAddress((void**)&address, value));
    EXPECT(fetch(address) == sum);
    size_t size;
    CHECK(cudaGetSymbolSize(&size, matrix));
    EXPECT(size == sizeof(rows));
    Parameters back;
    CHECK(cudaMemcpyFromSymbol(&back, written, sizeof(back)));
    EXPECT(back.a == 77 && back.b == 1.5);
    int counter, entries[4];
    CHECK(cudaMemcpyFromSymbol(&counter, inner::counter, sizeof(counter)));
    CHECK(cudaMemcpyFromSymbol(entries, table, sizeof(entries)));
    EXPECT(counter == 43 && entries[0] == 1 && entries[3] == -1);

    EXPECT(cudaMemcpyToSymbol(value, rows, 2 * sizeof(float)) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol(value, rows, sizeof(float), 1) == cudaErrorInvalidValue);
    return 0;
}
