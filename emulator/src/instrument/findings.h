// What the hazard check has found, and the report of it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "emu/vector_types.h"

namespace emu {

enum class Hazard {
    Race,
    VolatileRace,   // between lanes of a warp that rely on volatile; once for a kernel
    SharedBounds,   // outside the shared arrays of the kernel
    Uninitialised,  // shared memory
    DeviceBounds,
    FreedMemory,
    HostMemory,
    Barrier,  // that not all threads of the block reach
    Failure,  // the kernel ended with an error
};

// A line of the source: that of a return address, or the place of a call.
struct Place {
    uintptr_t pc = 0;
    const char* file = nullptr;  // if pc is 0
    int line = 0;
};

// What a thread did there.
struct Act {
    Place place;
    uint3 thread;
    std::string what;  // "writes", ...
};

struct Finding {
    Hazard hazard;
    std::string about;  // the rest of the title
    std::vector<Act> acts;
    std::string where;  // the variable or allocation; may be empty

    // Filled in by whoever passes it on.
    std::string kernel = {};
    uint3 block{};
    uint64_t order = 0;  // of the launch
    uint64_t blockNumber = 0;

    uint64_t times = 1;        // that it occurred
    bool withinWarps = false;  // a race: only between threads of one warp
};

// All findings of the program, each once for a kernel and its source lines. Thread-safe.
class Findings {
  public:
    explicit Findings(std::string path) : path_(std::move(path)) {}
    // Writes the report; the last line says how many hazards there are.
    ~Findings();

    // Of equal ones, that of the first launch and block is shown.
    void add(const Finding& finding);
    // Returns the number of the launch.
    uint64_t addLaunch();

  private:
    using Key = std::tuple<Hazard, std::string, std::string, std::string>;

    std::string report() const;

    std::string path_;
    std::mutex mutex_;
    std::map<Key, Finding> findings_;
    uint64_t launches_ = 0;
};

}  // namespace emu
