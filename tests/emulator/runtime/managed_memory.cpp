#include "fixture.h"

__device__ __managed__ int managedScalar = 3;
__managed__ float managedArray[10];

namespace {

class ManagedTest : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        ASSERT_OK(cudaMallocManaged(&managed_, 100));
        device_ = deviceArray<char>(100);
    }

    int attribute(cudaMemRangeAttribute which) {
        int value = -99;
        EXPECT_OK(cudaMemRangeGetAttribute(&value, sizeof(value), which, managed_, 100));
        return value;
    }

    char* managed_ = nullptr;
    char* device_ = nullptr;
    const cudaMemLocation gpu_ = {cudaMemLocationTypeDevice, 0};
    const cudaMemLocation cpu_ = {cudaMemLocationTypeHost, 0};
};

TEST_F(ManagedTest, PrefetchIsRemembered) {
    EXPECT_EQ(cudaInvalidDeviceId, attribute(cudaMemRangeAttributeLastPrefetchLocation));
    EXPECT_OK(cudaMemPrefetchAsync(managed_, 100, gpu_, 0));
    EXPECT_EQ(0, attribute(cudaMemRangeAttributeLastPrefetchLocation));
    EXPECT_OK(cudaMemPrefetchAsync(managed_, 100, cudaCpuDeviceId));  // the form of CUDA 12
    EXPECT_EQ(cudaCpuDeviceId, attribute(cudaMemRangeAttributeLastPrefetchLocation));
    EXPECT_OK(cudaMemPrefetchAsync(managed_ + 50, 50, 0, nullptr));
}

TEST_F(ManagedTest, PrefetchErrors) {
    char host[4];
    EXPECT_INVALID(cudaMemPrefetchAsync(managed_, 101, gpu_, 0));
    EXPECT_INVALID(cudaMemPrefetchAsync(managed_, 0, gpu_, 0));
    EXPECT_INVALID(cudaMemPrefetchAsync(managed_, 100, gpu_, 7));
    EXPECT_INVALID(cudaMemPrefetchAsync(device_, 100, gpu_, 0));
    EXPECT_INVALID(cudaMemPrefetchAsync(host, 4, gpu_, 0));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaMemPrefetchAsync(managed_, 100, 5));
    EXPECT_INVALID(cudaMemPrefetchAsync(managed_, 100, {cudaMemLocationTypeInvalid, 0}, 0));
}

TEST_F(ManagedTest, AdviceIsRemembered) {
    EXPECT_EQ(0, attribute(cudaMemRangeAttributeReadMostly));
    EXPECT_OK(cudaMemAdvise(managed_, 100, cudaMemAdviseSetReadMostly, gpu_));
    EXPECT_EQ(1, attribute(cudaMemRangeAttributeReadMostly));
    EXPECT_OK(cudaMemAdvise(managed_, 100, cudaMemAdviseUnsetReadMostly, 0));
    EXPECT_EQ(0, attribute(cudaMemRangeAttributeReadMostly));

    EXPECT_OK(cudaMemAdvise(managed_, 100, cudaMemAdviseSetPreferredLocation, gpu_));
    EXPECT_EQ(0, attribute(cudaMemRangeAttributePreferredLocation));
    EXPECT_OK(cudaMemAdvise(managed_, 100, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    EXPECT_EQ(cudaCpuDeviceId, attribute(cudaMemRangeAttributePreferredLocation));
    EXPECT_OK(cudaMemAdvise(managed_, 100, cudaMemAdviseUnsetPreferredLocation, gpu_));
    EXPECT_EQ(cudaInvalidDeviceId, attribute(cudaMemRangeAttributePreferredLocation));

    int devices[3] = {9, 9, 9};
    EXPECT_OK(cudaMemAdvise(managed_, 100, cudaMemAdviseSetAccessedBy, gpu_));
    EXPECT_OK(cudaMemAdvise(managed_, 100, cudaMemAdviseSetAccessedBy, cpu_));
    EXPECT_OK(cudaMemRangeGetAttribute(devices, sizeof(devices), cudaMemRangeAttributeAccessedBy,
                                       managed_, 100));
    EXPECT_EQ(0, devices[0]);
    EXPECT_EQ(cudaCpuDeviceId, devices[1]);
    EXPECT_EQ(cudaInvalidDeviceId, devices[2]);
}

TEST_F(ManagedTest, AdviceErrors) {
    int value = 0;
    EXPECT_INVALID(cudaMemAdvise(device_, 100, cudaMemAdviseSetReadMostly, 0));
    EXPECT_INVALID(cudaMemAdvise(managed_, 0, cudaMemAdviseSetReadMostly, 0));
    EXPECT_INVALID(cudaMemAdvise(managed_, 101, cudaMemAdviseSetReadMostly, 0));
    EXPECT_INVALID(cudaMemAdvise(managed_, 100, static_cast<cudaMemoryAdvise>(99), 0));
    EXPECT_INVALID(cudaMemAdvise(managed_, 100, cudaMemAdviseSetAccessedBy, 1));
    EXPECT_INVALID(
        cudaMemRangeGetAttribute(&value, 8, cudaMemRangeAttributeReadMostly, managed_, 4));
    EXPECT_INVALID(
        cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, device_, 4));
}

TEST_F(ManagedTest, ManagedVariablesAreManagedMemory) {
    const float host[10] = {1, 2};
    cudaPointerAttributes attributes;
    void* address = nullptr;
    EXPECT_EQ(3, managedScalar);
    for (const void* variable :
         {static_cast<void*>(&managedScalar), static_cast<void*>(managedArray)}) {
        EXPECT_OK(cudaPointerGetAttributes(&attributes, variable));
        EXPECT_EQ(cudaMemoryTypeManaged, attributes.type);
    }
    // By pointer and by name, in contrast to a __device__ variable
    EXPECT_OK(cudaMemcpy(managedArray, host, 40, cudaMemcpyHostToDevice));
    EXPECT_EQ(2, managedArray[1]);
    EXPECT_OK(cudaMemset(managedArray, 0, 40));
    EXPECT_EQ(0, managedArray[1]);
    EXPECT_OK(cudaMemcpyToSymbol(managedArray, host, 40));
    EXPECT_EQ(2, managedArray[1]);
    EXPECT_INVALID(cudaMemcpyToSymbol(managedArray, host, 44));
    EXPECT_OK(cudaGetSymbolAddress(&address, managedScalar));
    EXPECT_EQ(&managedScalar, address);
    EXPECT_OK(cudaMemPrefetchAsync(managedArray, 40, gpu_, 0));
    EXPECT_INVALID(cudaFree(managedArray));
}

TEST_F(ManagedTest, AttachToAStream) {
    const cudaStream_t stream = newStream();
    EXPECT_OK(cudaStreamAttachMemAsync(stream, managed_));
    EXPECT_OK(cudaStreamAttachMemAsync(stream, managed_, 100, cudaMemAttachGlobal));
    EXPECT_INVALID(cudaStreamAttachMemAsync(stream, managed_, 50));
    EXPECT_INVALID(cudaStreamAttachMemAsync(stream, device_));
    EXPECT_INVALID(cudaStreamAttachMemAsync(stream, managed_, 0, 9));
}

}  // namespace
