// C++ in kernels: new and delete, virtual functions, operators, unions, vector types, recursion,
// structs by value.
#include <cstdint>

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

// Memory that the threads of a block share, and memory of each.
__global__ void heap(int* out) {
    __shared__ int* shared;
    if (threadIdx.x == 0) shared = new int[blockDim.x];
    __syncthreads();
    int* own = static_cast<int*>(malloc(100 * sizeof(int)));
    for (int i = 0; i < 100; ++i) own[i] = i + threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += own[i];
    free(own);
    shared[threadIdx.x] = sum;
    __syncthreads();
    out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) delete[] shared;
}

struct Complex {
    float re, im;
    __host__ __device__ Complex(float r, float i) : re(r), im(i) {}
    __host__ __device__ Complex operator*(const Complex& o) const {
        return {re * o.re - im * o.im, im * o.re + re * o.im};
    }
    __host__ __device__ Complex operator+(const Complex& o) const { return {re + o.re, im + o.im}; }
    __host__ __device__ float magnitude2() const { return re * re + im * im; }
};
__host__ __device__ int julia(int x, int y, int size) {
    Complex z(1.5f * (size / 2 - x) / (size / 2), 1.5f * (size / 2 - y) / (size / 2));
    const Complex c(-0.8f, 0.156f);
    for (int i = 0; i < 50; ++i) {
        z = z * z + c;
        if (z.magnitude2() > 1000) return 0;
    }
    return 1;
}
__global__ void draw(uchar4* image) {
    const int x = blockIdx.x, y = blockIdx.y;
    const unsigned char value = 255 * julia(x, y, gridDim.x);
    image[x + y * gridDim.x] = make_uchar4(value, 0, 0, 255);
}

struct Matrix {
    int width, height, stride;
    float* elements;
    __host__ __device__ float& at(int row, int column) const {
        return elements[row * stride + column];
    }
    __device__ Matrix part(int row, int column) const {
        return {4, 4, stride, &elements[stride * 4 * row + 4 * column]};
    }
};
__global__ void multiply(Matrix a, Matrix b, Matrix c) {
    const int row = threadIdx.y, column = threadIdx.x;
    float value = 0;
    for (int m = 0; m < a.width / 4; ++m) {
        __shared__ float as[4][4];
        __shared__ float bs[4][4];
        as[row][column] = a.part(blockIdx.y, m).at(row, column);
        bs[row][column] = b.part(m, blockIdx.x).at(row, column);
        __syncthreads();
        for (int k = 0; k < 4; ++k) value += as[row][k] * bs[k][column];
        __syncthreads();
    }
    c.part(blockIdx.y, blockIdx.x).at(row, column) = value;
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
    destroy<<<1, 2>>>(shapes);
    CHECK(cudaDeviceSynchronize());
    EXPECT(areas[0] == 4 && areas[1] == 6);

    int* out;
    CHECK(cudaMallocManaged(&out, 64 * sizeof(int)));
    heap<<<2, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 64; ++t) EXPECT(out[t] == 4950 + 100 * (63 - t));

    const int size = 60;
    uchar4* image;
    CHECK(cudaMallocManaged(&image, size * size * sizeof(uchar4)));
    draw<<<dim3(size, size), 1>>>(image);
    CHECK(cudaDeviceSynchronize());
    for (int y = 0; y < size; ++y) {
        for (int x = 0; x < size; ++x) EXPECT(image[x + y * size].x == 255 * julia(x, y, size));
    }

    const int n = 12;
    Matrix m[3];
    for (Matrix& matrix : m) {
        matrix = {n, n, n, nullptr};
        CHECK(cudaMallocManaged(&matrix.elements, n * n * sizeof(float)));
        for (int i = 0; i < n * n; ++i) matrix.elements[i] = i % (&matrix == m ? 5 : 7);
    }
    const dim3 block(4, 4), grid(n / block.x, n / block.y);
    multiply<<<grid, block>>>(m[0], m[1], m[2]);
    CHECK(cudaDeviceSynchronize());
    for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
            float value = 0;
            for (int k = 0; k < n; ++k) value += m[0].at(row, k) * m[1].at(k, column);
            EXPECT(m[2].at(row, column) == value);
        }
    }

    float4* in;
    CHECK(cudaMallocManaged(&in, 32 * sizeof(float4)));
    for (int i = 0; i < 32; ++i) in[i] = make_float4(-1, i, 2, 3);
    assorted<<<1, 32, 32 * sizeof(float4)>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 32; ++t) EXPECT(out[t] == 31 - t + 4 + 1000 + 1270000 + 9);
    return 0;
}
