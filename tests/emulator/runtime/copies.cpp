// Copies and fills in one to three dimensions.
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "fixture.h"

namespace {

using CopyTest = RuntimeTest;

const auto kBadKind = static_cast<cudaMemcpyKind>(9);

std::vector<char> numbered(size_t count) {
    std::vector<char> bytes(count);
    std::iota(bytes.begin(), bytes.end(), 1);
    return bytes;
}

TEST_F(CopyTest, RoundTrip) {
    const std::vector<char> in = numbered(1000);
    std::vector<char> out(1000);
    char *a = deviceArray<char>(1000), *b = deviceArray<char>(1000);
    EXPECT_OK(cudaMemcpy(a, in.data(), 1000, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemcpy(b, a, 1000, cudaMemcpyDeviceToDevice));
    EXPECT_OK(cudaMemcpy(out.data(), b, 1000, cudaMemcpyDeviceToHost));
    EXPECT_EQ(in, out);
    EXPECT_OK(cudaMemcpy(out.data(), b + 10, 5, cudaMemcpyDefault));
    EXPECT_EQ(in[10], out[0]);
    EXPECT_EQ(in[5], out[5]);
    EXPECT_OK(cudaMemcpy(out.data(), in.data(), 1000, cudaMemcpyHostToHost));
    EXPECT_OK(cudaMemcpyPeer(a, 0, b, 0, 1000));
    EXPECT_OK(cudaMemcpyAsync(out.data(), a, 1000, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    EXPECT_EQ(in, out);
}

// Which directions a GPU accepts for which memory: it looks at the device's side only.
TEST_F(CopyTest, DirectionMustFitThePointers) {
    enum { Host, Pinned, Managed, Device, Kinds };
    char hostMemory[64], *device = deviceArray<char>(64), *pinned = nullptr, *managed = nullptr;
    ASSERT_OK(cudaMallocHost(&pinned, 64));
    ASSERT_OK(cudaMallocManaged(&managed, 64));
    const std::array<char*, Kinds> memory = {hostMemory, pinned, managed, device};
    for (int d = 0; d < Kinds; ++d) {
        for (int s = 0; s < Kinds; ++s) {
            SCOPED_TRACE(testing::Message() << "to " << d << " from " << s);
            char *dst = memory[d], *src = memory[s] + 32;
            const auto allowed = [](bool yes) { return yes ? cudaSuccess : cudaErrorInvalidValue; };
            EXPECT_EQ(cudaSuccess, cudaMemcpy(dst, src, 16, cudaMemcpyHostToHost));
            EXPECT_EQ(cudaSuccess, cudaMemcpy(dst, src, 16, cudaMemcpyDefault));
            EXPECT_EQ(allowed(d != Host), cudaMemcpy(dst, src, 16, cudaMemcpyHostToDevice));
            EXPECT_EQ(allowed(s != Host), cudaMemcpy(dst, src, 16, cudaMemcpyDeviceToHost));
            EXPECT_EQ(allowed(d != Host && s != Host),
                      cudaMemcpy(dst, src, 16, cudaMemcpyDeviceToDevice));
            EXPECT_EQ(allowed(d != Host), cudaMemcpyAsync(dst, src, 16, cudaMemcpyHostToDevice));
        }
        EXPECT_EQ(d == Host ? cudaErrorInvalidValue : cudaSuccess, cudaMemset(memory[d], 0, 16));
    }
}

TEST_F(CopyTest, UnknownDirectionIsAnErrorOfItsOwn) {
    char host[4], *device = deviceArray<char>(4);
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(device, host, 4, kBadKind));
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpy(device, host, 4, static_cast<cudaMemcpyKind>(-1)));
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpyAsync(device, host, 4, kBadKind));
    EXPECT_FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy2D(device, 4, host, 4, 4, 1, kBadKind));
    EXPECT_OK(cudaMemcpy(device, host, 0, kBadKind));  // nothing to do comes first
}

TEST_F(CopyTest, RangesEndWithTheAllocation) {
    std::vector<char> host(1 << 20);
    char *device = deviceArray<char>(1000), *other = deviceArray<char>(5000);
    EXPECT_OK(cudaMemcpy(device + 500, host.data(), 500, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemcpy(device, host.data(), 1001, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemcpy(device + 500, host.data(), 501, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemcpy(host.data(), device, 1 << 20, cudaMemcpyDeviceToHost));
    EXPECT_INVALID(cudaMemcpy(host.data(), device, 1001, cudaMemcpyDefault));
    EXPECT_INVALID(cudaMemcpy(other, device, 1001, cudaMemcpyDeviceToDevice));
    EXPECT_INVALID(cudaMemcpy(device, other, 1001, cudaMemcpyDeviceToDevice));
    EXPECT_INVALID(cudaMemset(device, 0, 1001));
    EXPECT_INVALID(cudaMemset(device + 1, 0, 1000));
    EXPECT_INVALID(cudaMemset(device, 0, SIZE_MAX));
    char* pinned = nullptr;
    ASSERT_OK(cudaMallocHost(&pinned, 10));
    EXPECT_INVALID(cudaMemcpy(device, pinned, 11, cudaMemcpyHostToDevice));
}

TEST_F(CopyTest, NullAndFreedPointers) {
    char host[16], *device = deviceArray<char>(16);
    EXPECT_INVALID(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemcpy(host, nullptr, 4, cudaMemcpyHostToHost));
    EXPECT_INVALID(cudaMemcpy(nullptr, host, 4, cudaMemcpyDefault));
    EXPECT_INVALID(cudaMemset(nullptr, 0, 1));
    EXPECT_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemset(nullptr, 0, 0));
    ASSERT_OK(cudaFree(device));
    EXPECT_INVALID(cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
    EXPECT_INVALID(cudaMemset(device, 0, 4));
}

TEST_F(CopyTest, Copy2DMovesOnlyTheRows) {
    const std::vector<char> in = numbered(3 * 10);
    std::vector<char> out(3 * 7, 0);
    char* device = nullptr;
    size_t pitch = 0;
    ASSERT_OK(cudaMallocPitch(&device, &pitch, 10, 3));
    ASSERT_OK(cudaMemset2D(device, pitch, 0x55, 10, 3));
    EXPECT_OK(cudaMemcpy2D(device, pitch, in.data(), 10, 5, 3, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemcpy2DAsync(out.data(), 7, device, pitch, 7, 3, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 7; ++x) EXPECT_EQ(x < 5 ? in[y * 10 + x] : 0x55, out[y * 7 + x]);
    }
}

TEST_F(CopyTest, Copy2DErrors) {
    std::vector<char> host(4096);
    char *device = deviceArray<char>(1000), *h = host.data();
    const auto copy = [&](size_t dpitch, size_t spitch, size_t width, size_t height) {
        return cudaMemcpy2D(device, dpitch, h, spitch, width, height, cudaMemcpyHostToDevice);
    };
    EXPECT_OK(copy(100, 200, 100, 10));
    EXPECT_OK(copy(110, 200, 10, 10));  // the last row needs no padding
    EXPECT_FAILS(cudaErrorInvalidPitchValue, copy(99, 200, 100, 10));
    EXPECT_FAILS(cudaErrorInvalidPitchValue, copy(100, 99, 100, 10));
    EXPECT_INVALID(copy(100, 200, 100, 11));
    EXPECT_INVALID(copy(SIZE_MAX / 2, 200, 100, 5));
    EXPECT_INVALID(cudaMemcpy2D(nullptr, 100, h, 100, 100, 2, cudaMemcpyHostToDevice));
    EXPECT_INVALID(cudaMemcpy2D(device, 100, h, 100, 100, 2, cudaMemcpyDeviceToHost));
    EXPECT_OK(copy(0, 0, 10, 0));
    EXPECT_OK(copy(100, 200, 0, 11));

    EXPECT_OK(cudaMemset2D(device, 100, 0, 100, 10));
    EXPECT_INVALID(cudaMemset2D(device, 100, 0, 101, 2));
    EXPECT_INVALID(cudaMemset2D(device, 100, 0, 100, 11));
    EXPECT_OK(cudaMemset2D(device, 50, 0, 100, 1));  // one row has no pitch
    EXPECT_OK(cudaMemset2D(device, 100, 0, 0, 11));
}

cudaMemcpy3DParms upload(char* host, const cudaPitchedPtr& device) {
    cudaMemcpy3DParms params = {};
    params.srcPtr = make_cudaPitchedPtr(host, 100, 100, 5);
    params.dstPtr = device;
    params.extent = make_cudaExtent(100, 5, 4);
    params.kind = cudaMemcpyHostToDevice;
    return params;
}

TEST_F(CopyTest, Copy3DMovesABox) {
    std::vector<char> in = numbered(100 * 5 * 4), out(100 * 5 * 4, 0);
    cudaPitchedPtr device;
    ASSERT_OK(cudaMalloc3D(&device, make_cudaExtent(100, 5, 4)));
    ASSERT_OK(cudaMemset3D(device, 0, make_cudaExtent(100, 5, 4)));
    cudaMemcpy3DParms params = upload(in.data(), device);
    params.srcPos = make_cudaPos(10, 1, 1);
    params.dstPos = make_cudaPos(20, 2, 2);
    params.extent = make_cudaExtent(30, 3, 2);
    EXPECT_OK(cudaMemcpy3D(&params));

    cudaMemcpy3DParms back = {};
    back.srcPtr = device;
    back.dstPtr = make_cudaPitchedPtr(out.data(), 100, 100, 5);
    back.extent = make_cudaExtent(100, 5, 4);
    back.kind = cudaMemcpyDeviceToHost;
    EXPECT_OK(cudaMemcpy3DAsync(&back));
    for (int z = 0; z < 4; ++z) {
        for (int y = 0; y < 5; ++y) {
            for (int x = 0; x < 100; ++x) {
                const bool inside = x >= 20 && x < 50 && y >= 2 && z >= 2;
                const int from = ((z - 1) * 5 + y - 1) * 100 + x - 10;
                ASSERT_EQ(inside ? in[from] : 0, out[(z * 5 + y) * 100 + x]) << x << y << z;
            }
        }
    }
}

TEST_F(CopyTest, Copy3DErrors) {
    std::vector<char> host(100 * 5 * 6);
    cudaPitchedPtr device;
    ASSERT_OK(cudaMalloc3D(&device, make_cudaExtent(100, 5, 4)));
    const cudaMemcpy3DParms good = upload(host.data(), device);
    const auto with = [&](auto change) {
        cudaMemcpy3DParms params = good;
        change(params);
        return cudaMemcpy3D(&params);
    };
    EXPECT_OK(with([](auto&) {}));
    EXPECT_OK(with([](auto& p) { p.dstPos.x = 1; }));  // into the padding of the rows
    EXPECT_OK(with([](auto& p) { p.extent.width = 0; }));
    EXPECT_INVALID(cudaMemcpy3D(nullptr));
    EXPECT_INVALID(with([](auto& p) { p.kind = cudaMemcpyDeviceToHost; }));
    EXPECT_INVALID(with([](auto& p) { p.extent.depth = 5; }));
    EXPECT_INVALID(with([](auto& p) { p.dstPos.z = 1; }));
    EXPECT_INVALID(with([](auto& p) { p.dstPos.y = 1; }));
    EXPECT_INVALID(with([](auto& p) { p.dstPos.x = 413; }));
    EXPECT_INVALID(with([](auto& p) { p.dstPos.x = SIZE_MAX; }));
    EXPECT_INVALID(with([](auto& p) { p.dstPtr.ptr = nullptr; }));
    EXPECT_FAILS(cudaErrorInvalidPitchValue, with([](auto& p) { p.extent.width = 101; }));
    EXPECT_FAILS(cudaErrorInvalidPitchValue, with([](auto& p) { p.extent.height = 6; }));

    EXPECT_OK(cudaMemset3D(device, 0, make_cudaExtent(512, 5, 4)));
    EXPECT_OK(cudaMemset3D(device, 0, make_cudaExtent(0, 5, 4)));
    EXPECT_INVALID(cudaMemset3D(device, 0, make_cudaExtent(513, 5, 4)));
    EXPECT_INVALID(cudaMemset3D(device, 0, make_cudaExtent(100, 6, 4)));
    EXPECT_INVALID(cudaMemset3D(device, 0, make_cudaExtent(100, 5, 5)));
}

TEST_F(CopyTest, FillsWithTheLowByte) {
    unsigned char out[4] = {};
    auto* device = deviceArray<unsigned char>(4);
    ASSERT_OK(cudaMemset(device, 0, 4));
    EXPECT_OK(cudaMemset(device + 1, 0x1AB, 2));
    EXPECT_OK(cudaMemcpy(out, device, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(0, out[0]);
    EXPECT_EQ(0xAB, out[1]);
    EXPECT_EQ(0xAB, out[2]);
    EXPECT_EQ(0, out[3]);
}

TEST_F(CopyTest, OtherDevicesDoNotExist) {
    char *a = deviceArray<char>(10), *b = deviceArray<char>(10), host[10];
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaMemcpyPeer(a, 0, b, 1, 10));
    EXPECT_FAILS(cudaErrorInvalidDevice, cudaMemcpyPeerAsync(a, 1, b, 0, 10));
    EXPECT_INVALID(cudaMemcpyPeer(a, 0, b, 0, 11));
    EXPECT_INVALID(cudaMemcpyPeer(a, 0, host, 0, 10));
}

TEST_F(CopyTest, StreamsAreChecked) {
    char host[4], *device = deviceArray<char>(4);
    const cudaStream_t stream = newStream();
    EXPECT_OK(cudaMemcpyAsync(device, host, 4, cudaMemcpyHostToDevice, stream));
    ASSERT_OK(cudaStreamDestroy(stream));
    EXPECT_NO_HANDLE(cudaMemcpyAsync(device, host, 4, cudaMemcpyHostToDevice, stream));
    EXPECT_NO_HANDLE(cudaMemsetAsync(device, 0, 4, stream));
}

}  // namespace
