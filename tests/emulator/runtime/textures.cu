// CUDA arrays, texture objects and surface objects: what is refused, with the errors that an H200
// with CUDA 13.0 returned.
#include <cstring>
#include <vector>

#include "fixture.h"

namespace {

using TextureTest = RuntimeTest;

const cudaChannelFormatDesc kFloat = cudaCreateChannelDesc<float>();
const cudaChannelFormatDesc kInt = cudaCreateChannelDesc<int>();

cudaArray_t arrayOf(const cudaChannelFormatDesc& channels, unsigned flags = 0) {
    cudaArray_t array = nullptr;
    EXPECT_OK(cudaMallocArray(&array, &channels, 16, 8, flags));
    return array;
}

cudaResourceDesc ofArray(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}
cudaResourceDesc ofLinear(void* memory, size_t bytes,
                          const cudaChannelFormatDesc& channels = kFloat) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = channels;
    resource.res.linear.sizeInBytes = bytes;
    return resource;
}
cudaResourceDesc ofRows(void* memory, size_t width, size_t height, size_t pitch) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = kFloat;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return resource;
}

cudaTextureDesc pointSampling() {
    cudaTextureDesc description = {};
    for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
    return description;
}

cudaError_t create(const cudaResourceDesc& resource,
                   const cudaTextureDesc& description = pointSampling()) {
    cudaTextureObject_t texture = 0;
    return cudaCreateTextureObject(&texture, &resource, &description, nullptr);
}

cudaTextureObject_t textureOf(const cudaResourceDesc& resource) {
    cudaTextureObject_t texture = 0;
    const cudaTextureDesc description = pointSampling();
    EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

TEST_F(TextureTest, Formats) {
    const cudaChannelFormatDesc shorts = cudaCreateChannelDesc<short4>();
    EXPECT_EQ(16, shorts.x);
    EXPECT_EQ(16, shorts.w);
    EXPECT_EQ(cudaChannelFormatKindSigned, shorts.f);
    EXPECT_EQ(cudaChannelFormatKindNone, cudaCreateChannelDesc<float3>().f);
    EXPECT_EQ(0, cudaCreateChannelDesc<uchar2>().z);
    cudaArray_t array;
    for (const cudaChannelFormatDesc& wrong :
         {cudaChannelFormatDesc{32, 32, 32, 0, cudaChannelFormatKindFloat},
          {32, 16, 0, 0, cudaChannelFormatKindUnsigned},
          {64, 0, 0, 0, cudaChannelFormatKindFloat},
          {8, 0, 0, 0, cudaChannelFormatKindFloat},
          cudaCreateChannelDesc<float3>()})
        EXPECT_FAILS(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &wrong, 16, 16));
    const cudaChannelFormatDesc half = {16, 0, 0, 0, cudaChannelFormatKindFloat};
    EXPECT_OK(cudaMallocArray(&array, &half, 16, 16));
}

TEST_F(TextureTest, ExtentsOfArrays) {
    cudaArray_t array;
    EXPECT_INVALID(cudaMallocArray(&array, &kFloat, 0, 4));
    EXPECT_OK(cudaMallocArray(&array, &kFloat, 131072));
    EXPECT_INVALID(cudaMallocArray(&array, &kFloat, 131073));
    EXPECT_INVALID(cudaMallocArray(&array, &kFloat, 16, 65537));
    EXPECT_INVALID(cudaMallocArray(nullptr, &kFloat, 16, 16));
    EXPECT_INVALID(cudaMallocArray(&array, nullptr, 16, 16));
    EXPECT_INVALID(cudaMallocArray(&array, &kFloat, 16, 0, cudaArrayTextureGather));
    const auto malloc3D = [&](size_t x, size_t y, size_t z, unsigned flags = 0) {
        return cudaMalloc3DArray(&array, &kFloat, make_cudaExtent(x, y, z), flags);
    };
    EXPECT_INVALID(malloc3D(4, 0, 4));
    EXPECT_OK(malloc3D(4, 4, 16385));
    EXPECT_INVALID(malloc3D(8193, 4, 16385));
    EXPECT_INVALID(malloc3D(4, 4, 2049, cudaArrayLayered));
    EXPECT_INVALID(malloc3D(4, 4, 0, cudaArrayLayered));
    EXPECT_INVALID(malloc3D(4, 4, 4, cudaArrayCubemap));
    EXPECT_INVALID(malloc3D(4, 4, 4, cudaArrayTextureGather));
    EXPECT_OK(malloc3D(4, 0, 3, cudaArrayLayered));

    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned flags;
    EXPECT_OK(cudaArrayGetInfo(&format, &extent, &flags, array));
    EXPECT_EQ(cudaChannelFormatKindFloat, format.f);
    EXPECT_EQ(4u, extent.width);
    EXPECT_EQ(0u, extent.height);
    EXPECT_EQ(3u, extent.depth);
    EXPECT_EQ(unsigned{cudaArrayLayered}, flags);
    EXPECT_OK(cudaArrayGetInfo(nullptr, nullptr, nullptr, array));
    EXPECT_OK(cudaFreeArray(array));
    EXPECT_NO_HANDLE(cudaFreeArray(array));
    EXPECT_OK(cudaFreeArray(nullptr));
    EXPECT_INVALID(cudaFree(arrayOf(kFloat)));
}

TEST_F(TextureTest, Descriptions) {
    const cudaResourceDesc floats = ofArray(arrayOf(kFloat)), ints = ofArray(arrayOf(kInt));
    EXPECT_NO_HANDLE(create(ofArray(nullptr)));
    cudaTextureDesc description = pointSampling();
    description.filterMode = cudaFilterModeLinear;
    EXPECT_OK(create(floats, description));
    EXPECT_FAILS(cudaErrorInvalidFilterSetting, create(ints, description));
    description.readMode = cudaReadModeNormalizedFloat;
    EXPECT_FAILS(cudaErrorInvalidFilterSetting, create(ints, description));
    EXPECT_OK(create(ofArray(arrayOf(cudaCreateChannelDesc<uchar4>())), description));
    description.filterMode = cudaFilterModePoint;
    EXPECT_FAILS(cudaErrorInvalidNormSetting, create(ints, description));
    EXPECT_FAILS(cudaErrorInvalidNormSetting, create(floats, description));
    description = pointSampling();
    description.addressMode[0] = cudaAddressModeWrap;  // without normalised coordinates: clamps
    EXPECT_OK(create(floats, description));
    description.addressMode[0] = static_cast<cudaTextureAddressMode>(9);
    EXPECT_INVALID(create(floats, description));
    description = pointSampling();
    description.filterMode = static_cast<cudaTextureFilterMode>(9);
    EXPECT_INVALID(create(floats, description));
    cudaTextureObject_t texture;
    description = pointSampling();
    EXPECT_INVALID(cudaCreateTextureObject(nullptr, &floats, &description, nullptr));
    EXPECT_INVALID(cudaCreateTextureObject(&texture, nullptr, &description, nullptr));
    EXPECT_NO_HANDLE(cudaCreateTextureObject(&texture, &floats, nullptr, nullptr));
}

TEST_F(TextureTest, LinearMemory) {
    float* memory = deviceArray<float>(1 << 16);
    EXPECT_OK(create(ofLinear(memory, 1024)));
    EXPECT_INVALID(create(ofLinear(memory + 4, 1024)));
    EXPECT_INVALID(create(ofLinear(memory + 64, 1024)));
    EXPECT_OK(create(ofLinear(memory + 128, 1024)));
    EXPECT_OK(create(ofLinear(memory, 1023)));
    EXPECT_INVALID(create(ofLinear(nullptr, 1024)));
    float host[16] = {};
    EXPECT_INVALID(create(ofLinear(host, sizeof(host))));
    EXPECT_FAILS(cudaErrorInvalidChannelDescriptor,
                 create(ofLinear(memory, 1024, cudaCreateChannelDesc<float3>())));
    EXPECT_OK(create(ofRows(memory, 100, 20, 512)));
    EXPECT_OK(create(ofRows(memory, 100, 20, 416)));
    EXPECT_INVALID(create(ofRows(memory, 100, 20, 400)));
    EXPECT_INVALID(create(ofRows(memory + 8, 100, 20, 512)));
    EXPECT_INVALID(create(ofRows(memory, 131073, 1, 131104 * 4)));
    EXPECT_INVALID(create(ofRows(memory, 1, 65001, 32)));
    size_t most = 0;
    EXPECT_OK(cudaDeviceGetTexture1DLinearMaxWidth(&most, &kFloat, 0));
    EXPECT_EQ(size_t{1} << 30, most);
    const cudaChannelFormatDesc float4s = cudaCreateChannelDesc<float4>();
    EXPECT_OK(cudaDeviceGetTexture1DLinearMaxWidth(&most, &float4s, 0));
    EXPECT_EQ(size_t{1} << 28, most);
}

TEST_F(TextureTest, Objects) {
    const cudaArray_t array = arrayOf(kFloat);
    const cudaTextureObject_t texture = textureOf(ofArray(array));
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    EXPECT_OK(cudaGetTextureObjectResourceDesc(&resource, texture));
    EXPECT_EQ(array, resource.res.array.array);
    EXPECT_OK(cudaGetTextureObjectTextureDesc(&description, texture));
    EXPECT_EQ(cudaAddressModeClamp, description.addressMode[1]);
    EXPECT_OK(cudaDestroyTextureObject(texture));
    EXPECT_INVALID(cudaGetTextureObjectResourceDesc(&resource, texture));
    EXPECT_OK(cudaDestroyTextureObject(texture));
    EXPECT_OK(cudaDestroyTextureObject(0));
    EXPECT_NE(texture, textureOf(ofArray(array)));  // no handle is given out twice

    cudaSurfaceObject_t surface;
    const cudaResourceDesc linear = ofLinear(deviceArray<float>(256), 1024);
    EXPECT_INVALID(cudaCreateSurfaceObject(&surface, &linear));
    const cudaResourceDesc ofIt = ofArray(array);
    EXPECT_INVALID(cudaCreateSurfaceObject(nullptr, &ofIt));
    EXPECT_OK(cudaCreateSurfaceObject(&surface, &ofIt));
    EXPECT_OK(cudaGetSurfaceObjectResourceDesc(&resource, surface));
    EXPECT_OK(cudaDestroySurfaceObject(surface));
}

TEST_F(TextureTest, CopiesOfRows) {
    const cudaArray_t array = arrayOf(kFloat);
    float image[128] = {}, back[128] = {};
    for (int i = 0; i < 128; ++i) image[i] = static_cast<float>(i);
    const auto to = [&](size_t x, size_t y, size_t pitch, size_t width, cudaMemcpyKind kind) {
        return cudaMemcpy2DToArray(array, x, y, image, pitch, width, 8, kind);
    };
    EXPECT_OK(to(0, 0, 64, 64, cudaMemcpyHostToDevice));
    EXPECT_OK(to(0, 0, 64, 64, cudaMemcpyDefault));
    EXPECT_OK(to(2, 0, 64, 8, cudaMemcpyHostToDevice));  // a part of an element
    EXPECT_FAILS(cudaErrorInvalidPitchValue, to(0, 0, 64, 68, cudaMemcpyHostToDevice));
    EXPECT_INVALID(to(4, 0, 64, 64, cudaMemcpyHostToDevice));
    EXPECT_INVALID(to(0, 4, 64, 64, cudaMemcpyHostToDevice));
    EXPECT_INVALID(to(0, 0, 64, 64, cudaMemcpyDeviceToDevice));
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection, to(0, 0, 64, 64, cudaMemcpyDeviceToHost));
    EXPECT_NO_HANDLE(cudaMemcpy2DToArray(nullptr, 0, 0, image, 64, 64, 8, cudaMemcpyHostToDevice));
    EXPECT_OK(to(0, 0, 64, 64, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemcpy2DFromArray(back, 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    EXPECT_EQ(0, std::memcmp(image, back, sizeof(image)));
    EXPECT_INVALID(cudaMemcpy2DFromArray(back, 64, array, 0, 0, 64, 9, cudaMemcpyDeviceToHost));
    EXPECT_OK(cudaMemcpyToArray(array, 4, 1, image, 100, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemcpyToArray(array, 0, 0, image, 516, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemcpyFromArray(back, array, 0, 0, 512, cudaMemcpyDeviceToHost));
    EXPECT_EQ(16, back[16]);
    EXPECT_EQ(0, back[17]);
    EXPECT_EQ(24, back[41]);
    EXPECT_EQ(42, back[42]);
    const cudaStream_t stream = newStream();
    EXPECT_OK(
        cudaMemcpy2DToArrayAsync(array, 0, 0, image, 64, 64, 8, cudaMemcpyHostToDevice, stream));
    EXPECT_OK(
        cudaMemcpy2DFromArrayAsync(back, 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(0, std::memcmp(image, back, sizeof(image)));
}

TEST_F(TextureTest, CopiesOfBoxes) {
    const cudaArray_t array = arrayOf(kFloat);
    float image[128] = {};
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(image, 64, 16, 8);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(16, 8, 1);
    copy.kind = cudaMemcpyHostToDevice;
    EXPECT_OK(cudaMemcpy3D(&copy));
    for (const cudaExtent& wrong :
         {make_cudaExtent(16, 8, 2), make_cudaExtent(17, 8, 1), make_cudaExtent(64, 8, 1)}) {
        copy.extent = wrong;
        EXPECT_NE(cudaSuccess, cudaMemcpy3D(&copy));
    }
    copy.extent = make_cudaExtent(16, 8, 1);
    copy.dstPos.x = 1;
    EXPECT_INVALID(cudaMemcpy3D(&copy));
    copy.dstPos.x = 0;
    copy.dstPtr = copy.srcPtr;
    EXPECT_INVALID(cudaMemcpy3D(&copy));
}

__global__ void readPlane(cudaTextureObject_t texture, float4* out) {
    *out = tex2D<float4>(texture, 1.5f, 1.5f);
}
__global__ void readLine(cudaTextureObject_t texture, float* out) {
    *out = tex1D<float>(texture, 0.5f);
}
__global__ void fetchOne(cudaTextureObject_t texture, float* out) {
    *out = tex1Dfetch<float>(texture, 0);
}
__global__ void writeAt(cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode mode) {
    surf2Dwrite(6.0f, surface, x, y, mode);
}

TEST_F(TextureTest, MissingChannelsAreZero) {
    const cudaArray_t array = arrayOf(kFloat);
    const std::vector<float> image(128, 4.25f);
    ASSERT_OK(cudaMemcpyToArray(array, 0, 0, image.data(), 512, cudaMemcpyHostToDevice));
    float4* out = deviceArray<float4>(1);
    readPlane<<<1, 1>>>(textureOf(ofArray(array)), out);
    float4 read;
    EXPECT_OK(cudaMemcpy(&read, out, sizeof(read), cudaMemcpyDeviceToHost));
    EXPECT_EQ(4.25f, read.x);
    EXPECT_EQ(0, read.y);
    EXPECT_EQ(0, read.w);
}

// (A GPU reads something.)
TEST_F(TextureTest, CallsThatDoNotFitEndTheKernel) {
    const auto ends = [](const char* said, const auto& launch) {
        float* const out = deviceArray<float>(4);
        testing::internal::CaptureStderr();
        launch(out);
        EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
        EXPECT_NE(std::string::npos, testing::internal::GetCapturedStderr().find(said)) << said;
        ASSERT_OK(cudaDeviceReset());
    };
    const auto plane = [] { return textureOf(ofArray(arrayOf(kFloat))); };
    ends("tex1D() of an array that is 2D", [&](float* out) { readLine<<<1, 1>>>(plane(), out); });
    ends("tex1Dfetch() reads textures of linear memory",
         [&](float* out) { fetchOne<<<1, 1>>>(plane(), out); });
    ends("tex1D() of a texture of linear memory", [&](float* out) {
        readLine<<<1, 1>>>(textureOf(ofLinear(deviceArray<float>(256), 1024)), out);
    });
    ends("no texture object has the handle 0", [&](float* out) { fetchOne<<<1, 1>>>(0, out); });
    ends("it has been destroyed", [&](float* out) {
        const cudaTextureObject_t destroyed = plane();
        ASSERT_OK(cudaDestroyTextureObject(destroyed));
        fetchOne<<<1, 1>>>(destroyed, out);
    });
}

TEST_F(TextureTest, BoundariesOfSurfaces) {
    const auto surface = [](cudaArray_t array) {
        const cudaResourceDesc resource = ofArray(array);
        cudaSurfaceObject_t object = 0;
        EXPECT_OK(cudaCreateSurfaceObject(&object, &resource));
        return object;
    };
    cudaArray_t array = arrayOf(kFloat, cudaArraySurfaceLoadStore);
    float image[128] = {};
    ASSERT_OK(cudaMemcpyToArray(array, 0, 0, image, 512, cudaMemcpyHostToDevice));
    const int places[][2] = {{4, 1}, {64, 2}, {-4, 3}, {8, 8}, {12, -1}, {200, 200}};
    for (const auto& [x, y] : places) writeAt<<<1, 1>>>(surface(array), x, y, cudaBoundaryModeZero);
    const auto written = [&] {
        EXPECT_OK(cudaMemcpyFromArray(image, array, 0, 0, 512, cudaMemcpyDeviceToHost));
        std::vector<int> found;
        for (int i = 0; i < 128; ++i)
            if (image[i] != 0) found.push_back(i);
        return found;
    };
    EXPECT_EQ(std::vector<int>({17}), written());
    for (const auto& [x, y] : places)
        writeAt<<<1, 1>>>(surface(array), x, y, cudaBoundaryModeClamp);
    EXPECT_EQ(std::vector<int>({3, 17, 47, 48, 114, 127}), written());
    testing::internal::CaptureStderr();
    writeAt<<<1, 1>>>(surface(array), 6, 4, cudaBoundaryModeClamp);
    EXPECT_EQ(cudaErrorMisalignedAddress, cudaDeviceSynchronize());
    ASSERT_OK(cudaDeviceReset());
    writeAt<<<1, 1>>>(surface(arrayOf(kFloat)), 64, 4, cudaBoundaryModeTrap);
    EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    testing::internal::GetCapturedStderr();
}

}  // namespace
