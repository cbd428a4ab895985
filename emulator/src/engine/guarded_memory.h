// Device memory for the hazard check: allocations far from one another, in readable memory, so that
// an access off the end of one meets none of the others and the kernel runs on. It knows which
// bytes were written, and the host cannot reach what only a GPU can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace emu {

// Allocations are made here. Set before the first one, and never again.
extern bool guardAllocations;

enum class Reach {
    Both,        // host and device
    DeviceOnly,  // its bytes count as unwritten at first
    Managed,     // host and device, and its bytes count as unwritten at first
};

enum class Owner {
    Program,  // of what the API allocated
    Kernel,   // of what malloc() or new in a kernel did
};

// `size` bytes, or nullptr. giveBackGuarded() keeps the last few allocations that were freed apart,
// so that an access to one of these is known for what it is.
void* takeGuarded(size_t size, Reach reach, Owner owner = Owner::Program);
void giveBackGuarded(void* memory);

struct GuardedAllocation {
    const char* base;
    size_t size;      // bytes
    unsigned number;  // 1 for the first of the program; 0 for a kernel's
    bool freed;
    Reach reach;
    Owner owner;
    uint8_t* written;  // a bit for each byte; nullptr: not known

    bool holds(uintptr_t address) const {
        return address - reinterpret_cast<uintptr_t>(base) < size;
    }
    // Somebody has written these bytes of it. Not without `written`.
    void markWritten(size_t first, size_t count) const;
};

// The allocation in or around which `address` lies; empty if it is near none.
std::optional<GuardedAllocation> guardedAround(const void* address);

// Each allocation of managed memory that has not been freed.
void forEachManaged(const std::function<void(const GuardedAllocation&)>& visit);

// False for addresses that are near no allocation. For hot paths.
bool maybeGuarded(uintptr_t address);

// Changes with every allocation and free.
unsigned guardedGeneration();

// Which of these bytes nobody has written: a bit for each, the first byte's lowest. Empty if all
// have been written, or it is not known which. The caller reaches the memory.
std::vector<uint8_t> unwrittenBits(const void* memory, size_t bytes);
size_t countOnes(const std::vector<uint8_t>& bits);

// Somebody has written these bytes; or copied others there, of which `unwritten` were not written.
void markWritten(const void* to, size_t bytes);
void markCopied(const void* to, size_t bytes, const std::vector<uint8_t>& unwritten);

// While one lives, everybody reaches all memory; else what is Reach::DeviceOnly is protected.
// Nothing happens without guardAllocations.
class DeviceMemoryAccess {
  public:
    DeviceMemoryAccess();
    ~DeviceMemoryAccess();
    DeviceMemoryAccess(const DeviceMemoryAccess&) = delete;
    DeviceMemoryAccess& operator=(const DeviceMemoryAccess&) = delete;
};

// Lets the host reach the memory around `address` until it is protected the next time.
void openGuarded(const void* address);

}  // namespace emu
