// Textures and surfaces as textbooks use them, with the headers that older programs include. (What
// each mode gives to the last bit: ../textures/sampled.cu.)
#include <cuda_runtime.h>
#include <cuda_texture_types.h>
#include <surface_functions.h>
#include <surface_indirect_functions.h>
#include <surface_types.h>
#include <texture_fetch_functions.h>
#include <texture_indirect_functions.h>
#include <texture_types.h>

#include <vector>

#include "expect.cuh"

constexpr int kWidth = 33, kHeight = 17, kDepth = 5;

float valueAt(int x, int y, int z = 0) {
    return static_cast<float>(x + 100 * y + 10000 * z);
}

cudaTextureDesc pointSampling() {
    cudaTextureDesc description = {};
    for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
    description.filterMode = cudaFilterModePoint;
    description.readMode = cudaReadModeElementType;
    return description;
}

cudaResourceDesc ofArray(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

__global__ void readPlane(cudaTextureObject_t texture, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void readByPointer(cudaTextureObject_t texture, float* out, int width) {
    const int x = threadIdx.x;
    if (x < width) tex2D(&out[x], texture, x + 0.5f, 2.5f);
}

__global__ void readVolume(cudaTextureObject_t texture, float* out) {
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    out[(z * kHeight + y) * kWidth + x] = tex3D<float>(texture, x + 0.5f, y + 0.5f, z + 0.5f);
}

// A surface's x counts bytes.
__global__ void scaleInto(cudaTextureObject_t in, cudaSurfaceObject_t out, float factor) {
    const int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(factor * tex2D<float>(in, x + 0.5f, y + 0.5f), out,
                x * static_cast<int>(sizeof(float)), y);
}

__global__ void invert(cudaSurfaceObject_t in, cudaSurfaceObject_t out) {
    const int x = threadIdx.x, y = blockIdx.x;
    uchar4 pixel = surf2Dread<uchar4>(in, x * 4, y);
    pixel.x = 255 - pixel.x;
    surf2Dwrite(pixel, out, x * 4, y);
    uchar4 beyond;
    surf2Dread(&beyond, in, -4, y, cudaBoundaryModeClamp);
    surf2Dwrite(beyond, out, x * 4, 1 << 20, cudaBoundaryModeZero);  // is left out
}

__global__ void fetchLookup(cudaTextureObject_t table, const int* indices, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(table, indices[i]);
}

__global__ void layersAndLines(cudaTextureObject_t layers, cudaSurfaceObject_t line, float* out) {
    const int layer = threadIdx.x;
    out[layer] = tex2DLayered<float>(layers, 3.5f, 1.5f, layer);
    surf1Dwrite(out[layer], line, layer * 4);
}

std::vector<float> plane() {
    std::vector<float> values;
    for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x) values.push_back(valueAt(x, y));
    return values;
}

void texturesOfAPlane() {
    const std::vector<float> values = plane();
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    const size_t rowBytes = kWidth * sizeof(float), bytes = rowBytes * kHeight;
    cudaArray_t array, scaled;
    CHECK(cudaMallocArray(&array, &channels, kWidth, kHeight));
    CHECK(cudaMallocArray(&scaled, &channels, kWidth, kHeight, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), rowBytes, rowBytes, kHeight,
                              cudaMemcpyHostToDevice));
    float* rows;
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, rowBytes, kHeight));
    CHECK(cudaMemcpy2D(rows, pitch, values.data(), rowBytes, rowBytes, kHeight,
                       cudaMemcpyHostToDevice));
    cudaResourceDesc pitched = {};
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D.devPtr = rows;
    pitched.res.pitch2D.desc = channels;
    pitched.res.pitch2D.width = kWidth;
    pitched.res.pitch2D.height = kHeight;
    pitched.res.pitch2D.pitchInBytes = pitch;

    float* out;
    CHECK(cudaMalloc(&out, bytes));
    const cudaResourceDesc resources[] = {ofArray(array), pitched};
    const cudaTextureDesc description = pointSampling();
    for (const cudaResourceDesc& resource : resources) {
        cudaTextureObject_t texture = 0;
        CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
        CHECK(cudaMemset(out, 0, bytes));
        readPlane<<<dim3(3, 3), dim3(16, 8)>>>(texture, out, kWidth, kHeight);
        std::vector<float> read(values.size());
        CHECK(cudaMemcpy(read.data(), out, bytes, cudaMemcpyDeviceToHost));
        EXPECT(read == values);
        readByPointer<<<1, 64>>>(texture, out, kWidth);
        EXPECT(fetch(out + 7) == valueAt(7, 2));
        CHECK(cudaDestroyTextureObject(texture));
    }

    // Through a surface into an array, and from there to the host and to another array.
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resources[0], &description, nullptr));
    const cudaResourceDesc target = ofArray(scaled);
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &target));
    scaleInto<<<kHeight, kWidth>>>(texture, surface, 3);
    std::vector<float> read(values.size());
    CHECK(cudaMemcpy2DFromArray(read.data(), rowBytes, scaled, 0, 0, rowBytes, kHeight,
                                cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < values.size(); ++i) EXPECT(read[i] == 3 * values[i]);
    CHECK(cudaMemcpy2DArrayToArray(array, 4, 1, scaled, 0, 0, 8, 2, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArray(read.data(), rowBytes, array, 0, 0, rowBytes, kHeight,
                                cudaMemcpyDeviceToHost));
    EXPECT(read[0] == 0 && read[kWidth + 1] == 0 && read[2 * kWidth + 2] == 3 * valueAt(1, 1));

    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(scaled));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(out));
}

void volume() {
    std::vector<float> values;
    for (int z = 0; z < kDepth; ++z)
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) values.push_back(valueAt(x, y, z));
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    const cudaExtent extent = make_cudaExtent(8, 8, kDepth);
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &channels, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), kWidth * sizeof(float), kWidth, kHeight);
    copy.srcPos = make_cudaPos(2 * sizeof(float), 3, 0);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    const cudaResourceDesc resource = ofArray(array);
    const cudaTextureDesc description = pointSampling();
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    float* out;
    CHECK(cudaMalloc(&out, values.size() * sizeof(float)));
    readVolume<<<1, dim3(8, 8, kDepth)>>>(texture, out);
    EXPECT(fetch(out + (4 * kHeight + 6) * kWidth + 5) == valueAt(7, 9, 4));
    EXPECT(fetch(out + (1 * kHeight + 0) * kWidth + 0) == valueAt(2, 3, 1));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
}

void surfacesOfPixels() {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
    cudaArray_t in, out;
    CHECK(cudaMallocArray(&in, &channels, 16, 4, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&out, &channels, 16, 4, cudaArraySurfaceLoadStore));
    uchar4 pixels[64];
    for (int i = 0; i < 64; ++i) pixels[i] = make_uchar4(static_cast<unsigned char>(i), 1, 2, 3);
    CHECK(cudaMemcpyToArray(in, 0, 0, pixels, sizeof(pixels), cudaMemcpyHostToDevice));
    const cudaResourceDesc from = ofArray(in), to = ofArray(out);
    cudaSurfaceObject_t surfaceIn, surfaceOut;
    CHECK(cudaCreateSurfaceObject(&surfaceIn, &from));
    CHECK(cudaCreateSurfaceObject(&surfaceOut, &to));
    invert<<<4, 16>>>(surfaceIn, surfaceOut);
    CHECK(cudaMemcpyFromArray(pixels, out, 0, 0, sizeof(pixels), cudaMemcpyDeviceToHost));
    EXPECT(pixels[0].x == 255 && pixels[37].x == 218 && pixels[37].z == 2);
    CHECK(cudaDestroySurfaceObject(surfaceIn));
    CHECK(cudaDestroySurfaceObject(surfaceOut));
    CHECK(cudaFreeArray(in));
    CHECK(cudaFreeArray(out));
}

void tableInLinearMemory() {
    std::vector<float> table;
    std::vector<int> indices;
    for (int i = 0; i < 100; ++i) {
        table.push_back(static_cast<float>(i) / 4);
        indices.push_back(i * 37 % 100);
    }
    float *memory, *out;
    int* places;
    CHECK(cudaMalloc(&memory, 400));
    CHECK(cudaMalloc(&out, 400));
    CHECK(cudaMalloc(&places, 400));
    CHECK(cudaMemcpy(memory, table.data(), 400, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(places, indices.data(), 400, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    resource.res.linear.sizeInBytes = 400;
    const cudaTextureDesc description = pointSampling();
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    fetchLookup<<<2, 64>>>(texture, places, out, 100);
    EXPECT(fetch(out + 3) == 11 / 4.0f && fetch(out + 99) == 63 / 4.0f);
    CHECK(cudaDestroyTextureObject(texture));
    for (void* pointer :
         {static_cast<void*>(memory), static_cast<void*>(out), static_cast<void*>(places)})
        CHECK(cudaFree(pointer));
}

void layers() {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    std::vector<float> values;
    for (int z = 0; z < 3; ++z)
        for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 4; ++x) values.push_back(valueAt(x, y, z));
    cudaArray_t array, line;
    CHECK(cudaMalloc3DArray(&array, &channels, make_cudaExtent(4, 2, 3), cudaArrayLayered));
    CHECK(cudaMallocArray(&line, &channels, 3, 0, cudaArraySurfaceLoadStore));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), 16, 4, 2);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 2, 3);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    const cudaResourceDesc resource = ofArray(array), target = ofArray(line);
    const cudaTextureDesc description = pointSampling();
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    CHECK(cudaCreateSurfaceObject(&surface, &target));
    float* out;
    CHECK(cudaMalloc(&out, 12));
    layersAndLines<<<1, 3>>>(texture, surface, out);
    EXPECT(fetch(out + 2) == valueAt(3, 1, 2));
    float read[3];
    CHECK(cudaMemcpy2DFromArray(read, 12, line, 0, 0, 12, 1, cudaMemcpyDeviceToHost));
    EXPECT(read[1] == valueAt(3, 1, 1));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(line));
    CHECK(cudaFree(out));
}

int main() {
    texturesOfAPlane();
    volume();
    surfacesOfPixels();
    tableInLinearMemory();
    layers();
}
