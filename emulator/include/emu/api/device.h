// The emulated device: the one device that there is, number 0.
#pragma once

#include "emu/runtime_types.h"

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* busId, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* busId);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

// Work is done when the call that submits it returns, so there is nothing to wait for; the error of
// a kernel that failed shows here as on a GPU. In a kernel: ends the kernel with an explanation.
cudaError_t cudaDeviceSynchronize();
// Frees all memory, streams, events and graphs, and clears the error that a failed kernel left.
// Unlike a GPU's, the values of __device__ variables stay.
cudaError_t cudaDeviceReset();

// The names in older textbooks, gone with CUDA 13.
inline cudaError_t cudaThreadSynchronize() {
    return cudaDeviceSynchronize();
}
inline cudaError_t cudaThreadExit() {
    return cudaDeviceReset();
}

// Limits are kept and returned. That of malloc()'s heap is its size, which cannot change once a
// kernel has used it; the host's stacks are what they are.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
// Hints to hardware that is not there: checked, kept, without effect.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

// With one device there is no peer.
cudaError_t cudaDeviceCanAccessPeer(int* canAccess, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source,
                                      int destination);
