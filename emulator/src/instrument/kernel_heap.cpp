#include "kernel_heap.h"

#include <cstddef>
#include <iterator>
#include <map>
#include <mutex>

#include "recorder.h"

namespace emu {

bool watchKernelHeap;

namespace {

struct Heap {
    std::mutex mutex;
    std::map<uintptr_t, size_t>
        blocks;  // sizes by address; what was freed stays until it is reused
};

Heap& heap() {
    static Heap& instance = *new Heap;
    return instance;
}

void note(const void* memory, size_t size) {
    Recorder* const running = recorder;
    recorder = nullptr;  // the table takes memory, too
    {
        Heap& known = heap();
        const std::lock_guard<std::mutex> lock(known.mutex);
        known.blocks[reinterpret_cast<uintptr_t>(memory)] = size;
    }
    recorder = running;
}

}  // namespace

bool isKernelHeap(uintptr_t address) {
    Heap& known = heap();
    const std::lock_guard<std::mutex> lock(known.mutex);
    auto next = known.blocks.upper_bound(address);
    if (next == known.blocks.begin()) return false;
    --next;
    return address - next->first < next->second;
}

}  // namespace emu

// glibc's own name for what malloc() does; `new` calls malloc().
extern "C" void* __libc_malloc(size_t size);

extern "C" void* malloc(size_t size) {
    void* memory = __libc_malloc(size);
    if (emu::recorder != nullptr && emu::watchKernelHeap) emu::note(memory, size);
    return memory;
}
