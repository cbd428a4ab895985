// What the engine uses of Boost.Context, declared here: the package of the library alone will do,
// whereas that of its headers brings all of Boost's (172 MB on Debian 12).
#pragma once

#include <cstddef>

namespace emu {

using Context = void*;  // where a suspended stack goes on

struct Transfer {
    Context from;  // who was suspended by the switch, to be continued in turn
    void* data;    // what that one handed over
};

// Both have these names and this layout since Boost 1.61.
extern "C" Transfer jump_fcontext(Context to, void* data);
extern "C" Context make_fcontext(void* stackTop, size_t size, void (*entry)(Transfer));

}  // namespace emu
