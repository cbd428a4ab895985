// The plain reads that a thread did last: which of them looked at what it then updates by an
// atomic?
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace emu {

class RecentReads {
  public:
    void add(uintptr_t address, uintptr_t pc) { reads_[next_++ % reads_.size()] = {address, pc}; }

    // The places of those at this address.
    template <class Function>
    void forEachAt(uintptr_t address, Function function) const {
        for (const Read& read : reads_) {
            if (read.address == address) function(read.pc);
        }
    }

  private:
    struct Read {
        uintptr_t address = 0, pc = 0;
    };
    std::array<Read, 8> reads_{};  // `if (d[v] > d[u] + w[e]) atomicMin(...)` reads all of them
    size_t next_ = 0;
};

}  // namespace emu
