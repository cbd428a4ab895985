// 2D and 3D memory: pitched allocations, parts of them, kernels that walk their rows.
#include <vector>

#include "expect.cuh"

constexpr int kWidth = 67, kHeight = 45, kDepth = 3;

__global__ void doubleRows(float* data, size_t pitch) {
    for (int y = blockIdx.x; y < kHeight; y += gridDim.x) {
        float* row = (float*)((char*)data + y * pitch);
        for (int x = threadIdx.x; x < kWidth; x += blockDim.x) row[x] *= 2;
    }
}
__global__ void increment(cudaPitchedPtr volume) {
    char* data = (char*)volume.ptr;
    for (int z = threadIdx.z; z < kDepth; z += blockDim.z) {
        for (int y = threadIdx.y; y < kHeight; y += blockDim.y) {
            float* row = (float*)(data + (z * kHeight + y) * volume.pitch);
            for (int x = threadIdx.x; x < kWidth; x += blockDim.x) row[x] += 1;
        }
    }
}

int main() {
    const size_t rowBytes = kWidth * sizeof(float);
    std::vector<float> host(kWidth * kHeight), result(host.size());
    for (size_t i = 0; i < host.size(); ++i) host[i] = i;
    float* device;
    size_t pitch;
    CHECK(cudaMallocPitch(&device, &pitch, rowBytes, kHeight));
    EXPECT(pitch >= rowBytes);
    CHECK(cudaMemset2D(device, pitch, 0xff, rowBytes, kHeight));
    CHECK(cudaMemcpy2D(device, pitch, host.data(), rowBytes, rowBytes, kHeight,
                       cudaMemcpyHostToDevice));
    doubleRows<<<10, 32>>>(device, pitch);
    CHECK(cudaMemcpy2D(result.data(), rowBytes, device, pitch, rowBytes, kHeight,
                       cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < host.size(); ++i) EXPECT(result[i] == 2 * host[i]);

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    float part[5][10];
    CHECK(cudaMemcpy2DAsync(part, sizeof(part[0]), (char*)device + 3 * pitch + 7 * sizeof(float),
                            pitch, sizeof(part[0]), 5, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 10; ++x) EXPECT(part[y][x] == 2 * host[(y + 3) * kWidth + x + 7]);
    }
    EXPECT(cudaMemcpy2D(part, 4, device, pitch, 8, 2, cudaMemcpyDeviceToHost) ==
           cudaErrorInvalidPitchValue);

    const cudaExtent extent = make_cudaExtent(rowBytes, kHeight, kDepth);
    cudaPitchedPtr volume;
    CHECK(cudaMalloc3D(&volume, extent));
    std::vector<float> source(kWidth * kHeight * kDepth), target(source.size());
    for (size_t i = 0; i < source.size(); ++i) source[i] = i % 1000;
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(source.data(), rowBytes, kWidth, kHeight);
    copy.dstPtr = volume;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    increment<<<1, dim3(16, 8, 2)>>>(volume);
    copy.srcPtr = volume;
    copy.dstPtr = make_cudaPitchedPtr(target.data(), rowBytes, kWidth, kHeight);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&copy, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < source.size(); ++i) EXPECT(target[i] == source[i] + 1);

    float box[2][3][4];
    cudaMemcpy3DParms sub = {};
    sub.srcPtr = volume;
    sub.srcPos = make_cudaPos(5 * sizeof(float), 6, 1);
    sub.dstPtr = make_cudaPitchedPtr(box, sizeof(box[0][0]), 4, 3);
    sub.extent = make_cudaExtent(sizeof(box[0][0]), 3, 2);
    sub.kind = cudaMemcpyDefault;
    CHECK(cudaMemcpy3D(&sub));
    for (int z = 0; z < 2; ++z) {
        for (int y = 0; y < 3; ++y) {
            for (int x = 0; x < 4; ++x) {
                EXPECT(box[z][y][x] == target[((z + 1) * kHeight + y + 6) * kWidth + x + 5]);
            }
        }
    }
    CHECK(cudaMemset3D(volume, 0, extent));
    CHECK(cudaMemcpy3D(&copy));
    for (const float value : target) EXPECT(value == 0);
    CHECK(cudaFree(volume.ptr));
    CHECK(cudaFree(device));
    return cudaStreamDestroy(stream);
}
