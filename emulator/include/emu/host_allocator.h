// For what the engine keeps of a kernel that launches another: allocated where code of the program
// runs, and on the host's heap all the same.
#pragma once

#include <cstddef>

namespace emu {

// Ends the program where there is no memory.
void* takeHostMemory(size_t bytes, size_t alignment);
void giveBackHostMemory(void* memory);

// As the standard library wants it.
template <class T>
struct HostAllocator {
    using value_type = T;
    HostAllocator() = default;
    template <class Other>
    HostAllocator(const HostAllocator<Other>&) {}
    T* allocate(size_t count) {
        return static_cast<T*>(takeHostMemory(count * sizeof(T), alignof(T)));
    }
    void deallocate(T* memory, size_t) { giveBackHostMemory(memory); }
    template <class Other>
    bool operator==(const HostAllocator<Other>&) const {
        return true;
    }
    template <class Other>
    bool operator!=(const HostAllocator<Other>&) const {
        return false;
    }
};

}  // namespace emu
