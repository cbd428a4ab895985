// Which thread has written a value that was copied to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "emu/vector_types.h"
#include "engine/watcher.h"
#include "global_shadow.h"

namespace emu {

class Writers {
  public:
    explicit Writers(GlobalShadow& shadow) : shadow_(shadow) {}

    // A copy is carried out; a fill, if it reads nothing.
    void transferRuns(const BytesSeen* read, const BytesSeen& written);
    // The last grid has ended: `launch` is its number as work.
    void gridEnded(uint64_t launch, const dim3& grid, const dim3& block);

    // As in emu/writer.h.
    std::string writerOf(const void* value, size_t bytes);

  private:
    struct Copy {
        uintptr_t from, to;
        size_t bytes;
    };

    // Where the bytes at `address` were copied from, last; 0 where that is not known.
    uintptr_t originOf(uintptr_t address, size_t bytes) const;
    bool isOverwritten(uintptr_t address) const;

    GlobalShadow& shadow_;
    std::mutex mutex_;
    std::deque<Copy> copies_;             // the last ones, the newest first; of one row each
    std::vector<BytesSeen> overwritten_;  // by copies and fills, since the last grid has ended
    uint64_t launch_ = 0;
    dim3 grid_, block_;
};

}  // namespace emu
