#include "host_allocator.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>

#include "emu/host_allocator.h"
#include "guarded_memory.h"
#include "out_of_memory.h"

namespace emu {
namespace {

struct Given {
    std::mutex mutex;
    std::map<uintptr_t, size_t> sizes;  // by address
};

Given& given() {
    static Given& instance = *new Given;  // used by static destructors
    return instance;
}

}  // namespace

void* takeHostMemory(size_t bytes, size_t alignment) {
    void* memory = nullptr;
    if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0) {
        quitWithoutMemory("the arguments of a kernel");
    }
    if (guardAllocations) {
        const std::lock_guard<std::mutex> lock(given().mutex);
        given().sizes[reinterpret_cast<uintptr_t>(memory)] = bytes;
    }
    return memory;
}

std::shared_ptr<const void> ownHostMemory(void* object, void (*destroy)(void* object)) {
    return {object, [destroy](void* memory) {
                destroy(memory);
                if (guardAllocations) {
                    const std::lock_guard<std::mutex> lock(given().mutex);
                    given().sizes.erase(reinterpret_cast<uintptr_t>(memory));
                }
                std::free(memory);
            }};
}

bool isOfHostAllocator(uintptr_t address) {
    const std::lock_guard<std::mutex> lock(given().mutex);
    const auto next = given().sizes.upper_bound(address);
    if (next == given().sizes.begin()) return false;
    const auto [begin, bytes] = *std::prev(next);
    return address - begin < bytes;
}

}  // namespace emu
