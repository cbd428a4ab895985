// Lets the cpu back end say that it is an H200: linked into NAME_as_gpu with the linker's --wrap
// (cmake/TestPrograms.cmake), which puts these functions before the emulator's own. The numbers are
// those of recorded_gpus.h, and for what is not there of
// ch03_execution_model/deviceQuery/results/h200/table.csv; all else is the emulation's. Its
// kEmulated is that of a GPU, and comes before the one of common/.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>

#include "../common/device.cuh"
#include "../common/recorded_gpus.h"
#include "wrapped.h"

#define LAB_PROPERTIES "_Z23cudaGetDevicePropertiesP14cudaDevicePropi"
#define LAB_ATTRIBUTE "_Z22cudaDeviceGetAttributePi14cudaDeviceAttri"
#define LAB_DRIVER "_Z20cudaDriverGetVersionPi"
#define LAB_ADDRESS "_Z21cudaDeviceGetPCIBusIdPcii"
#define LAB_MEMORY "_Z14cudaMemGetInfoPmS_"

const bool lab::kEmulated = false;

cudaError_t realProperties(cudaDeviceProp*, int) LAB_BEHIND(LAB_PROPERTIES);
cudaError_t h200Properties(cudaDeviceProp*, int) LAB_WRAPPED(LAB_PROPERTIES);
cudaError_t realAttribute(int*, cudaDeviceAttr, int) LAB_BEHIND(LAB_ATTRIBUTE);
cudaError_t h200Attribute(int*, cudaDeviceAttr, int) LAB_WRAPPED(LAB_ATTRIBUTE);
cudaError_t h200Driver(int*) LAB_WRAPPED(LAB_DRIVER);
cudaError_t h200Address(char*, int, int) LAB_WRAPPED(LAB_ADDRESS);
cudaError_t realMemory(size_t*, size_t*) LAB_BEHIND(LAB_MEMORY);
cudaError_t h200Memory(size_t*, size_t*) LAB_WRAPPED(LAB_MEMORY);

cudaError_t h200Properties(cudaDeviceProp* p, int device) {
    const cudaError_t error = realProperties(p, device);
    if (error != cudaSuccess) return error;
    const RecordedGpu& h200 = recordedGpus().at("h200");
    std::snprintf(p->name, sizeof(p->name), "%s", h200.name.c_str());
    p->multiProcessorCount = h200.attributes.at(cudaDevAttrMultiProcessorCount);
    p->totalGlobalMem = h200.globalMemory;
    p->memoryBusWidth = h200.attributes.at(cudaDevAttrGlobalMemoryBusWidth);
    p->l2CacheSize = h200.attributes.at(cudaDevAttrL2CacheSize);
    p->ECCEnabled = h200.attributes.at(cudaDevAttrEccEnabled);
    p->integrated = 0;
    p->asyncEngineCount = h200.attributes.at(cudaDevAttrAsyncEngineCount);
    p->pciDeviceID = 6;
    p->maxTexture1D = 131072;
    const int texture2D[] = {131072, 65536}, texture3D[] = {16384, 16384, 16384};
    const int layered1D[] = {32768, 2048}, layered2D[] = {32768, 32768, 2048};
    std::copy(std::begin(texture2D), std::end(texture2D), p->maxTexture2D);
    std::copy(std::begin(texture3D), std::end(texture3D), p->maxTexture3D);
    std::copy(std::begin(layered1D), std::end(layered1D), p->maxTexture1DLayered);
    std::copy(std::begin(layered2D), std::end(layered2D), p->maxTexture2DLayered);
    return cudaSuccess;
}

cudaError_t h200Attribute(int* value, cudaDeviceAttr attribute, int device) {
    static const std::map<cudaDeviceAttr, int> values = [] {
        std::map<cudaDeviceAttr, int> all = recordedGpus().at("h200").attributes;
        all.insert({
            {cudaDevAttrIntegrated, 0},
            {cudaDevAttrPciDeviceId, 6},
            {cudaDevAttrMaxTexture1DWidth, 131072},
            {cudaDevAttrMaxTexture2DWidth, 131072},
            {cudaDevAttrMaxTexture2DHeight, 65536},
            {cudaDevAttrMaxTexture3DWidth, 16384},
            {cudaDevAttrMaxTexture3DHeight, 16384},
            {cudaDevAttrMaxTexture3DDepth, 16384},
            {cudaDevAttrMaxTexture1DLayeredWidth, 32768},
            {cudaDevAttrMaxTexture1DLayeredLayers, 2048},
            {cudaDevAttrMaxTexture2DLayeredWidth, 32768},
            {cudaDevAttrMaxTexture2DLayeredHeight, 32768},
            {cudaDevAttrMaxTexture2DLayeredLayers, 2048},
        });
        return all;
    }();
    const cudaError_t error = realAttribute(value, attribute, device);
    const auto known = values.find(attribute);
    if (error == cudaSuccess && known != values.end()) *value = known->second;
    return error;
}

cudaError_t h200Driver(int* version) {
    *version = 13000;
    return cudaSuccess;
}

cudaError_t h200Address(char* address, int bytes, int) {
    std::snprintf(address, bytes, "0000:00:06.0");
    return cudaSuccess;
}

// Always the first answer, where there is one. What is free here changes with every other program
// of the machine, and so would what an exercise says that it has taken.
cudaError_t h200Memory(size_t* free, size_t* total) {
    struct Memory {
        size_t free, total;
    } now;
    const cudaError_t error = realMemory(&now.free, &now.total);
    if (error != cudaSuccess) return error;
    static const Memory first = now;
    if (free != nullptr) *free = first.free;
    if (total != nullptr) *total = first.total;
    return cudaSuccess;
}
