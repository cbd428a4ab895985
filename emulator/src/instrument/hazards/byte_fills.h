// Finds numbers that were meant to be set by cudaMemset(), which sets each of their bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/watcher.h"

namespace emu {

struct ByteFill {
    uintptr_t begin, end;
    unsigned value;  // of each byte
    uintptr_t pc;    // of the host, behind its call
};

// Thread-safe.
class ByteFills {
  public:
    // The host fills memory with such bytes, or something else is copied there.
    void filled(const BytesSeen& memory, unsigned value, uintptr_t pc);
    void overwritten(const BytesSeen& memory);

    // For hot paths: whether there are any that `read()` might find.
    bool any() const { return any_.load(std::memory_order_relaxed); }
    // The fill that a kernel sees which reads so many bytes there. Each is told once.
    std::optional<ByteFill> read(uintptr_t address, size_t bytes);

  private:
    std::atomic<bool> any_{false};
    std::mutex mutex_;
    std::vector<ByteFill> fills_;
};

}  // namespace emu
