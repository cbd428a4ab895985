// One pointer, six kinds of memory. Host and device share one address space (UVA), so an address
// says where its memory is, and CUDA can tell. From that follows who can use the memory, and in
// which direction a copy goes.
//
//   malloc             host memory, pageable: only on some systems can the device use it
//   cudaMallocHost     host memory, pinned: the device uses it over the link
//   cudaHostRegister   the same, for memory that exists already
//   cudaMalloc         device memory: the host cannot use it
//   __device__         a variable in device memory. cudaGetSymbolAddress() returns its address
//   cudaMallocManaged  memory of both: its pages move to where they are used
//
// The program fills each kind of memory. Where a kernel can use it, a kernel adds one to every
// number. All copies say cudaMemcpyDefault, so the addresses decide the direction.
//
//   ./lab run unifiedAddresses
//   ./lab test unifiedAddresses
//   ./lab profile unifiedAddresses
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target unifiedAddresses
//   build/ch04_memory/unifiedAddresses
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/unifiedAddresses/unifiedAddresses.cu
//       common/*.cpp common/*.cu -o build/unifiedAddresses

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "lab.cuh"

constexpr unsigned kBlock = 256;
constexpr std::size_t kMost = 1 << 20;  // numbers in `variable`

__device__ int variable[kMost];

__global__ void addOne(int* numbers, std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size) ++numbers[i];
}

// A kind of memory, and what cudaPointerGetAttributes() should say about a pointer to it.
struct Memory {
    const char* name;
    cudaMemoryType type;
    bool ofHost, ofDevice;  // is the pointer valid on the host, and on the device?
    bool kernelUses;        // can a kernel use the memory?
    std::function<int*(std::size_t bytes)> allocate;
    std::function<void(int*)> free;
};

const char* nameOf(cudaMemoryType type) {
    switch (type) {
        case cudaMemoryTypeUnregistered:
            return "unregistered";
        case cudaMemoryTypeHost:
            return "host";
        case cudaMemoryTypeDevice:
            return "device";
        case cudaMemoryTypeManaged:
            return "managed";
    }
    return "?";
}

int* fromMalloc(std::size_t bytes) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<int*>(memory);
}

// Memory that begins with a page, since cudaHostRegister() pins whole pages.
int* fromWholePages(std::size_t bytes) {
    constexpr std::size_t kPage = 4096;
    void* const memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<int*>(memory);
}

// For cudaMalloc() and similar functions, which return memory through a pointer to a pointer.
template <typename Allocate>
auto from(Allocate allocate) {
    return [allocate](std::size_t bytes) {
        void* memory = nullptr;
        CUDA_CHECK(allocate(&memory, bytes));
        return static_cast<int*>(memory);
    };
}

std::vector<Memory> allMemory(bool sharesPageTables) {
    const auto freeDevice = [](int* memory) { CUDA_CHECK(cudaFree(memory)); };
    return {
        {"malloc", cudaMemoryTypeUnregistered, true, sharesPageTables, sharesPageTables, fromMalloc,
         [](int* memory) { std::free(memory); }},
        {"cudaMallocHost", cudaMemoryTypeHost, true, true, true,
         from([](void** memory, std::size_t bytes) { return cudaMallocHost(memory, bytes); }),
         [](int* memory) { CUDA_CHECK(cudaFreeHost(memory)); }},
        {"cudaHostRegister", cudaMemoryTypeHost, true, true, true,
         [](std::size_t bytes) {
             int* const memory = fromWholePages(bytes);
             CUDA_CHECK(cudaHostRegister(memory, bytes, cudaHostRegisterDefault));
             return memory;
         },
         [](int* memory) {
             CUDA_CHECK(cudaHostUnregister(memory));
             std::free(memory);
         }},
        {"cudaMalloc", cudaMemoryTypeDevice, false, true, true,
         from([](void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }),
         freeDevice},
        {"__device__", cudaMemoryTypeDevice, false, true, true,
         from([](void** memory, std::size_t) { return cudaGetSymbolAddress(memory, variable); }),
         [](int*) {}},
        {"cudaMallocManaged", cudaMemoryTypeManaged, true, true, true,
         from([](void** memory, std::size_t bytes) { return cudaMallocManaged(memory, bytes); }),
         freeDevice},
    };
}

// Who can use the memory behind a pointer.
struct Users {
    bool host, device;
};

// CUDA has a pointer for each side that can use the memory.
Users usersOf(const void* pointer) {
    cudaPointerAttributes found;
    CUDA_CHECK(cudaPointerGetAttributes(&found, pointer));
    Users users;
    users.host = found.hostPointer == pointer;
    users.device = found.devicePointer == pointer;
    return users;
}

// Says what usersOf() says, if that is wrong for a pointer to this kind of memory; else empty.
std::string mistakenUsers(const Memory& memory, const int* pointer) {
    const Users users = usersOf(pointer);
    if (users.host == memory.ofHost && users.device == memory.kernelUses) return "";
    return lab::formatted("usersOf() says host: %s, device: %s", users.host ? "yes" : "no",
                          users.device ? "yes" : "no");
}

const char* sameOrNone(const void* pointer, const int* memory) {
    return pointer == memory ? "same" : pointer == nullptr ? "none" : "other";
}

// Says what the attributes are, if they are not those of this kind of memory; else empty.
std::string wrongIn(const cudaPointerAttributes& found, const Memory& memory, const int* pointer) {
    const std::string type = nameOf(found.type), host = sameOrNone(found.hostPointer, pointer),
                      device = sameOrNone(found.devicePointer, pointer);
    if (found.type == memory.type && host == (memory.ofHost ? "same" : "none") &&
        device == (memory.ofDevice ? "same" : "none"))
        return "";
    return lab::formatted("type %s, pointer of the host: %s, of the device: %s", type.c_str(),
                          host.c_str(), device.c_str());
}

lab::Finding use(const Memory& memory, const std::vector<int>& input) {
    const std::size_t size = input.size(), bytes = size * sizeof(int);
    int* const pointer = memory.allocate(bytes);
    cudaPointerAttributes attributes;
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, pointer));
    lab::Finding finding;
    finding.wrong = wrongIn(attributes, memory, pointer);
    for (const int* const number : {pointer, pointer + size - 1}) {
        if (finding.wrong.empty()) finding.wrong = mistakenUsers(memory, number);
    }
    finding.cells = {
        memory.name, nameOf(attributes.type), sameOrNone(attributes.hostPointer, pointer),
        sameOrNone(attributes.devicePointer, pointer), memory.kernelUses ? "yes" : "no"};

    CUDA_CHECK(cudaMemcpy(pointer, input.data(), bytes, cudaMemcpyDefault));
    if (memory.kernelUses) {
        addOne<<<lab::blocksFor(size, kBlock), kBlock>>>(pointer, size);
        CUDA_CHECK_LAUNCH();
    }
    std::vector<int> result(size), expected = input;
    CUDA_CHECK(cudaMemcpy(result.data(), pointer, bytes, cudaMemcpyDefault));
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int& number : expected) number += memory.kernelUses;
    if (finding.wrong.empty()) finding.wrong = lab::mismatch(result, expected);
    memory.free(pointer);
    return finding;
}

int main(int argc, char** argv) {
    std::size_t size;
    lab::Exercise exercise("unifiedAddresses", "What CUDA knows of a pointer.");
    exercise.option("size", &size, 1 << 16, 1, kMost, "number of ints");
    exercise.parse(argc, argv);
    exercise.title("%s ints (%s)", lab::withCommas(size).c_str(),
                   lab::inBytes(size * sizeof(int)).c_str());
    exercise.columns(lab::Columns::kPlain, {{"memory", -17, "kernel"},
                                            {"type", -12, "type"},
                                            {"of host", -7, "host_pointer"},
                                            {"of device", -9, "device_pointer"},
                                            {"kernel", -6, "kernel_uses"}});

    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    const bool sharesPageTables =
        lab::deviceAttribute(cudaDevAttrPageableMemoryAccess, device) != 0;
    const std::vector<int> input = lab::randomInts(size, exercise.seed(), 0, 1 << 20);
    for (const Memory& memory : allMemory(sharesPageTables)) {
        if (!exercise.selected(memory.name)) continue;
        lab::Row row;
        row.kernel = memory.name;
        row.finding = use(memory, input);
        exercise.row(row);
    }
    return exercise.finish();
}
