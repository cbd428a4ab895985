// A thread for each row of a matrix that is stored by rows: neighbouring lanes read a row apart.
//
// expect: uncoalesced, line 13

#include <cstdio>

struct Matrix {
    const float* data;
    int rows, cols;
    __device__ float at(int row, int col) const {
        // Called with the same column and neighbouring rows.
        int place = row * cols + col;
        return data[place];
    }
};

__global__ void norms(Matrix m, float* result) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m.rows) return;
    float sum = 0.0f;
    for (int col = 0; col < m.cols; ++col) sum += m.at(row, col) * m.at(row, col);
    result[row] = sum;
}

int main() {
    const int rows = 132 * 128, cols = 16;
    float *data, *result;
    cudaMallocManaged(&data, rows * cols * sizeof(float));
    cudaMallocManaged(&result, rows * sizeof(float));
    for (int i = 0; i < rows * cols; ++i) data[i] = i % 3;
    norms<<<132, 128>>>(Matrix{data, rows, cols}, result);
    cudaDeviceSynchronize();
    bool right = true;
    for (int row = 0; row < rows; ++row) {
        int sum = 0;
        for (int i = row * cols; i < (row + 1) * cols; ++i) sum += (i % 3) * (i % 3);
        right = right && result[row] == sum;
    }
    std::puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
