// A call in the source at which CUDA threads wait for one another.
#pragma once

#include <cstring>

namespace emu {

struct CallSite {
    const char* what = nullptr;  // "__syncthreads()"
    const char* file = nullptr;
    int line = 0;
};

inline bool sameSite(const CallSite& a, const CallSite& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0) &&
           (a.what == b.what || std::strcmp(a.what, b.what) == 0);
}

}  // namespace emu
