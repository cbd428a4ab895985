// What the hazard check says of textures and surfaces (test_textures.py). The first argument names
// the kernel.
#include <cuda_runtime.h>

#include <cstring>

constexpr int kWidth = 64, kHeight = 4;

// Each reads by a texture or a surface what it has written.
__global__ void sameThread(cudaTextureObject_t in, cudaSurfaceObject_t out, float*, float*) {
    const int x = threadIdx.x;
    surf2Dwrite(1.0f, out, 4 * x, 0);                              // same-write
    surf2Dwrite(tex2D<float>(in, x + 0.5f, 0.5f), out, 4 * x, 1);  // same-read
}
__global__ void behindBarrier(cudaTextureObject_t, cudaSurfaceObject_t out, float*, float* result) {
    const int x = threadIdx.x;
    surf2Dwrite(1.0f, out, 4 * x, 0);  // barrier-write
    __syncthreads();
    result[x] = surf2Dread<float>(out, 4 * (kWidth - 1 - x), 0);  // barrier-read
}
__global__ void throughPointer(cudaTextureObject_t in, cudaSurfaceObject_t, float* memory,
                               float* result) {
    const int x = threadIdx.x;
    memory[x] = 2;                         // pointer-write
    result[x] = tex1Dfetch<float>(in, x);  // pointer-read
}

// Others write what a thread reads, and nothing orders them.
__global__ void readFirst(cudaTextureObject_t in, cudaSurfaceObject_t out, float*, float*) {
    const int x = kWidth - 1 - threadIdx.x;
    const float left = tex2D<float>(in, x - 0.5f, 0.5f);   // race-read
    if (x < kWidth / 2) surf2Dwrite(left, out, 4 * x, 0);  // race-write
}

__global__ void unwritten(cudaTextureObject_t in, cudaSurfaceObject_t, float*, float* result) {
    result[threadIdx.x] = tex2D<float>(in, threadIdx.x + 0.5f, 3.5f);  // unwritten
}

// Nothing is wrong with these: a filter reads no texel whose weight is 0, writes go elsewhere.
__global__ void rowToRow(cudaTextureObject_t in, cudaSurfaceObject_t out, float*, float*) {
    surf2Dwrite(tex2D<float>(in, threadIdx.x + 0.5f, 0.5f), out, 4 * static_cast<int>(threadIdx.x),
                1);
}
__global__ void ownTexel(cudaTextureObject_t in, cudaSurfaceObject_t out, float*, float*) {
    const int x = threadIdx.x;
    const float own = tex2D<float>(in, x + 0.5f, 0.5f);
    surf2Dwrite(own + 1, out, 4 * x, 0);
}

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "";
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMallocArray(&array, &channels, kWidth, kHeight, cudaArraySurfaceLoadStore);
    const float image[kWidth * 3] = {};  // the last row is not written
    cudaMemcpy2DToArray(array, 0, 0, image, 4 * kWidth, 4 * kWidth, 3, cudaMemcpyHostToDevice);
    float *memory, *result;
    cudaMalloc(&memory, 4 * kWidth);
    cudaMalloc(&result, 4 * kWidth);
    cudaMemset(memory, 0, 4 * kWidth);

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &resource);
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModeLinear;
    if (is("throughPointer")) {
        description.filterMode = cudaFilterModePoint;
        resource = {};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = memory;
        resource.res.linear.desc = channels;
        resource.res.linear.sizeInBytes = 4 * kWidth;
    }
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    if (is("freed")) cudaFreeArray(array);
    if (is("sameThread")) sameThread<<<1, kWidth>>>(texture, surface, memory, result);
    if (is("behindBarrier")) behindBarrier<<<1, kWidth>>>(texture, surface, memory, result);
    if (is("throughPointer")) throughPointer<<<1, kWidth>>>(texture, surface, memory, result);
    if (is("readFirst")) readFirst<<<1, kWidth>>>(texture, surface, memory, result);
    if (is("unwritten") || is("freed")) unwritten<<<1, kWidth>>>(texture, surface, memory, result);
    if (is("nextLaunch")) {
        rowToRow<<<1, kWidth>>>(texture, surface, memory, result);
        ownTexel<<<1, kWidth>>>(texture, surface, memory, result);
        ownTexel<<<1, kWidth>>>(texture, surface, memory, result);
    }
    cudaDeviceSynchronize();
}
