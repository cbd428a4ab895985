// What a lane does, in its trace and in the counts by line.
#pragma once

#include <cstdint>

namespace emu {

enum class EventKind : uint8_t {
    BasicBlock,
    Enter,
    Leave,
    LoopStep,
    Division,
    Barrier,
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
    SharedLoad,
    SharedStore,
    SharedAtomic,
    ConstantLoad,  // counted for lines alone
    CopyTo,        // an asynchronous copy, of which two events tell: to where, and how many bytes
    CopyFrom,      // from where, and how many of these bytes are read
    // Counted for launches alone:
    TextureRead,
    SurfaceRead,
    SurfaceWrite,
};

}  // namespace emu
