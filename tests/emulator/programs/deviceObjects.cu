// C++ in kernels: new and delete, virtual functions, unions, vector types, recursion.

#include "expect.cuh"

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float side;
    __device__ explicit Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct Rectangle : Square {
    float other;
    __device__ Rectangle(float a, float b) : Square(a), other(b) {}
    __device__ float area() const override { return side * other; }
};
__global__ void create(Shape** shapes) {
    shapes[0] = new Square(2);
    shapes[1] = new Rectangle(2, 3);
}
__global__ void measure(Shape** shapes, float* areas) {
    areas[threadIdx.x] = shapes[threadIdx.x]->area();
}
__global__ void destroy(Shape** shapes) {
    delete shapes[threadIdx.x];
}

union Word {
    float f;
    unsigned bits;
    unsigned char bytes[4];
};
__device__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void assorted(int* out, const float4* in) {
    extern __shared__ float4 staged[];
    const int t = threadIdx.x;
    staged[t] = in[t];
    __syncthreads();
    const float4 v = staged[blockDim.x - 1 - t];
    Word word;
    word.f = v.x;
    const auto [sign, exponent] = make_int2(word.bits >> 31, word.bits >> 23 & 0xff);
    const float local[2][2] = {{v.x, v.y}, {v.z, v.w}};
    float sum = 0;
    for (const auto& row : local)
        for (const float x : row) sum += x;
    out[t] =
        static_cast<int>(sum) + sign * 1000 + exponent * 10000 + ackermann(2, 3) + word.bytes[0];
}

int main() {
    Shape** shapes;
    float* areas;
    CHECK(cudaMallocManaged(&shapes, 2 * sizeof(Shape*)));
    CHECK(cudaMallocManaged(&areas, 2 * sizeof(float)));
    create<<<1, 1>>>(shapes);
    measure<<<1, 2>>>(shapes, areas);
    EXPECT_AFTER(areas[0] == 4 && areas[1] == 6, destroy<<<1, 2>>>(shapes));

    int* out;
    CHECK(cudaMallocManaged(&out, 32 * sizeof(int)));
    float4* in;
    CHECK(cudaMallocManaged(&in, 32 * sizeof(float4)));
    for (int i = 0; i < 32; ++i) in[i] = make_float4(-1, i, 2, 3);
    assorted<<<1, 32, 32 * sizeof(float4)>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 32; ++t) EXPECT(out[t] == 31 - t + 4 + 1000 + 1270000 + 9);
    return 0;
}
