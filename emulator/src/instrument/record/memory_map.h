// Which memory of a GPU an address stands for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/allocations.h"
#include "recorder.h"

namespace emu {

// What one OS thread knows of addresses; it remembers the answers of the runtime's table.
class MemoryMap {
  public:
    // Before the first access of a block.
    void beginBlock();

    // False for what no GPU memory instruction stands behind: locals, parameters, constants, the
    // engine's variables.
    bool classify(uintptr_t address, Space* space) {
        if (address - stackBegin_ < stackSize_) return false;
        if (address - threadLocalBegin_ < threadLocalSize_) {
            *space = Space::Shared;
            return !isEngineVariable(address);
        }
        if (known_ != allocationsChanged.load(std::memory_order_relaxed)) forget();
        if (address - lastBegin_ < lastSize_) {
            *space = Space::Global;
            return true;
        }
        return lookUp(address, space);
    }

    // The stack of the thread that runs from now on.
    void setStack(const void* bottom, size_t size) {
        stackBegin_ = reinterpret_cast<uintptr_t>(bottom);
        stackSize_ = size;
    }

    // The compiler's own byte for a shared variable with a constructor, which on a GPU is not
    // there.
    bool isGuard(uintptr_t address) const;

    // The memory of this OS thread that __shared__ variables are in. After beginBlock().
    uintptr_t sharedBegin() const { return threadLocalBegin_; }
    size_t sharedSize() const { return threadLocalSize_; }

  private:
    enum class Answer : uint8_t { None, Global, Other, Ignored };
    struct Remembered {
        uintptr_t address;
        Answer answer;
    };

    bool isEngineVariable(uintptr_t address) const {
        for (const auto& [begin, size] : engineVariables_) {
            if (address - begin < size) return true;
        }
        return false;
    }
    bool lookUp(uintptr_t address, Space* space);
    Answer ask(uintptr_t address);
    void forget();
    void findThreadLocals();

    uintptr_t stackBegin_ = 0, stackSize_ = 0;
    uintptr_t threadLocalBegin_ = 0, threadLocalSize_ = 0;
    uintptr_t lastBegin_ = 0, lastSize_ = 0;  // the allocation of the last global access
    struct Range {
        uintptr_t begin, size;
    };
    std::array<Range, 4> allocations_{};
    unsigned nextAllocation_ = 0;
    unsigned known_ = 0;  // the value of allocationsChanged that this is known for
    std::array<Remembered, 256> remembered_{};
    std::array<Range, 8> engineVariables_{};
};

extern __thread MemoryMap memoryMap;

}  // namespace emu
