#include <cuda_profiler_api.h>

#include <cstring>
#include <string>

#include "fixture.h"

namespace {

using DeviceTest = RuntimeTest;

TEST_F(DeviceTest, ThereIsOneDevice) {
    int count = 0, device = 9;
    EXPECT_OK(cudaGetDeviceCount(&count));
    EXPECT_EQ(1, count);
    EXPECT_OK(cudaGetDevice(&device));
    EXPECT_EQ(0, device);
    EXPECT_OK(cudaSetDevice(0));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaSetDevice(1));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
    EXPECT_INVALID(cudaGetDeviceCount(nullptr));
    EXPECT_INVALID(cudaGetDevice(nullptr));
}

// (What they are is printed by the exercise deviceQuery.)
TEST_F(DeviceTest, Properties) {
    cudaDeviceProp prop;
    ASSERT_OK(cudaGetDeviceProperties(&prop, 0));
    EXPECT_EQ(0u, std::string(prop.name).find("CPU emulation of sm_90 ("));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, 99));
    EXPECT_INVALID(cudaGetDeviceProperties(nullptr, 0));
}

TEST_F(DeviceTest, AttributeErrors) {
    int value = 0;
    for (const int unknown : {0, -1, 148, 9999}) {
        EXPECT_INVALID(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(unknown), 0));
    }
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7));
    EXPECT_INVALID(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
}

TEST_F(DeviceTest, Versions) {
    EXPECT_INVALID(cudaDriverGetVersion(nullptr));
    EXPECT_INVALID(cudaRuntimeGetVersion(nullptr));
}

TEST_F(DeviceTest, Limits) {
    size_t value = 0;
    EXPECT_OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT_EQ(1024u, value);
    EXPECT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 2050));
    EXPECT_OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT_EQ(2064u, value);  // whole units of 16 bytes
    EXPECT_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{128} << 20));
    EXPECT_OK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    EXPECT_EQ(size_t{128} << 20, value);
    EXPECT_OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
    EXPECT_INVALID(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
    EXPECT_FAILS(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4));
    EXPECT_FAILS(cudaErrorUnsupportedLimit,
                 cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth));
    EXPECT_INVALID(cudaDeviceSetLimit(static_cast<cudaLimit>(33), 4));
    EXPECT_INVALID(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
    ASSERT_OK(cudaDeviceReset());
    EXPECT_OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT_EQ(1024u, value);
}

TEST_F(DeviceTest, CacheAndBankConfigurations) {
    cudaFuncCache cache = cudaFuncCachePreferShared;
    cudaSharedMemConfig banks = cudaSharedMemBankSizeDefault;
    EXPECT_OK(cudaDeviceGetCacheConfig(&cache));
    EXPECT_EQ(cudaFuncCachePreferNone, cache);
    EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    EXPECT_OK(cudaDeviceGetCacheConfig(&cache));
    EXPECT_EQ(cudaFuncCachePreferL1, cache);
    EXPECT_INVALID(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9)));
    EXPECT_OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    EXPECT_OK(cudaDeviceGetSharedMemConfig(&banks));
    EXPECT_EQ(cudaSharedMemBankSizeFourByte, banks);  // the hardware has no other
    EXPECT_INVALID(cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(7)));
}

TEST_F(DeviceTest, NoPeers) {
    int can = 9;
    EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT_EQ(0, can);
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_INVALID(cudaDeviceCanAccessPeer(nullptr, 0, 0));
    EXPECT_FAILS(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_INVALID(cudaDeviceEnablePeerAccess(0, 1));
    EXPECT_FAILS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaDeviceDisablePeerAccess(1));
    EXPECT_FAILS(cudaErrorInvalidDevice,
                 cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 0));
}

TEST_F(DeviceTest, PciBusId) {
    char id[32] = {};
    int device = 9;
    EXPECT_OK(cudaDeviceGetPCIBusId(id, sizeof(id), 0));
    EXPECT_OK(cudaDeviceGetByPCIBusId(&device, id));
    EXPECT_EQ(0, device);
    EXPECT_INVALID(cudaDeviceGetPCIBusId(id, 5, 0));
    EXPECT_EQ(4u, std::strlen(id));
    EXPECT_INVALID(cudaDeviceGetPCIBusId(nullptr, 32, 0));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaDeviceGetPCIBusId(id, sizeof(id), 1));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"));
    EXPECT_INVALID(cudaDeviceGetByPCIBusId(&device, "garbage"));
}

TEST_F(DeviceTest, ChoiceAndFlags) {
    int device = 9, valid = 0, invalid = 1;
    unsigned flags = 0;
    cudaDeviceProp wanted = {};
    wanted.major = 12;
    EXPECT_OK(cudaChooseDevice(&device, &wanted));
    EXPECT_EQ(0, device);
    EXPECT_INVALID(cudaChooseDevice(nullptr, &wanted));
    EXPECT_INVALID(cudaChooseDevice(&device, nullptr));
    EXPECT_OK(cudaSetValidDevices(&valid, 1));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaSetValidDevices(&invalid, 1));

    EXPECT_OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    EXPECT_OK(cudaGetDeviceFlags(&flags));
    EXPECT_EQ(unsigned{cudaDeviceScheduleYield | cudaDeviceMapHost}, flags);
    EXPECT_INVALID(cudaSetDeviceFlags(0x1000));
    EXPECT_INVALID(cudaSetDeviceFlags(3));  // two schedules
    EXPECT_OK(cudaInitDevice(0, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid));
    EXPECT_OK(cudaGetDeviceFlags(&flags));
    EXPECT_EQ(unsigned{cudaDeviceScheduleSpin | cudaDeviceMapHost}, flags);
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaInitDevice(1, 0, 0));
    EXPECT_OK(cudaProfilerStart());
    EXPECT_OK(cudaProfilerStop());
}

}  // namespace
