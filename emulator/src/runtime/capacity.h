// How much memory the emulated device has: that of the host, or of the container around the
// process.
#pragma once

#include <cstddef>

namespace emu {

struct Capacity {
    size_t total;  // bytes
    size_t free;   // bytes, when the runtime was first used
};

const Capacity& capacity();

}  // namespace emu
