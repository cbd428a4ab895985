// What the hazard check has found, and the report of it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emu/vector_types.h"

namespace emu {

enum class Hazard {
    Race,          // in shared memory
    VolatileRace,  // the same between lanes of a warp that rely on volatile; once for a kernel
    GlobalRace,
    GlobalVolatileRace,
    StreamRace,     // in memory that work of two streams uses at a time
    ChildRace,      // of a kernel with the one that launched it
    StaleTexture,   // a kernel reads by a texture or surface what it has written
    ArrayBounds,    // an index outside of its array, as that is declared
    SharedAlias,    // two extern __shared__ arrays are one memory, where values get lost
    SharedBounds,   // outside the shared arrays of the kernel
    Uninitialised,  // shared memory
    UninitialisedDevice,
    DeviceBounds,
    FreedMemory,
    FreedHeap,
    HostMemory,
    Misaligned,
    Stack,         // a recursion needs more than a GPU has
    Printed,       // more than the buffer for it holds
    ByteFill,      // a kernel reads numbers where the host has set bytes
    BulkUnfenced,  // the copy engine stores what threads have written, and no proxy fence between
    BulkUnwaited,  // a thread ends that has not waited for a bulk store
    Barrier,       // that not all threads of the block reach
    Shuffle,       // from a lane that takes no part
    UsedShuffle,   // the same, and the program's result depends on the value
    TwoPlaces,     // of the source, from which lanes meet in one shuffle
    SumOrder,      // a sum of floats that depends on the order of atomics
    Endless,       // the kernel runs and runs
    Failure,       // the kernel ended with an error
    Refused,       // a launch or another call that returned an error which nobody looked at
    HostTouch,     // the host reaches for device memory
    ManagedTouch,  // the host uses what a kernel, copy or fill may still be using
    NeverPrinted,  // a kernel that the host does not wait for has printed
    EarlyTime,     // the time of an event that nothing has waited for
    EarlyClock,    // the host reads its clock while the kernel that it times may be running
    EarlyCopy,     // the host uses what came by an asynchronous copy, and has waited for nothing
    Leak,          // a line allocates again and again, and nobody frees
    MaybeLeak,     // the same, but the program may have kept the pointers
    Death,         // the program died of a signal
    SymbolTouch,   // the host uses a __device__ variable by its name
    // The device is given what is good on the host alone:
    HostSymbol,    // the address of a __device__ variable
    HostFunction,  // that of a function
    HostVirtual,   // an object with virtual functions
    LocalToChild,  // a kernel is given local or shared memory of the one that launches it
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
    std::string what;      // "writes", ...
    std::string who = {};  // if it is not the thread above, in the finding's block
};

// What the host does at `pc`.
inline Act actOfHost(uintptr_t pc, const std::string& what) {
    return {{pc, nullptr, 0}, {}, what, "the host"};
}

struct Finding {
    Hazard hazard;
    std::string about;  // the rest of the title
    std::vector<Act> acts;
    std::string where;     // the variable or allocation; may be empty
    std::string why = {};  // a sentence for this one, in place of that of its kind

    // Filled in by whoever passes it on.
    std::string kernel = {};  // empty: it is the host's
    uint3 block{};
    uint64_t order = 0;  // the number of the launch as work, or of the work so far
    uint64_t blockNumber = 0;

    uint64_t times = 1;                // that it occurred
    bool withinWarps = false;          // a race: only between threads of one warp
    std::set<std::string> kinds = {};  // `about` of all that count as this one
    bool looked = false;  // a race: a thread of it had looked at what may be a lock or flag
};

// All findings of the program, each once for a kernel and its source lines. Thread-safe.
class Findings {
  public:
    explicit Findings(std::string path) : path_(std::move(path)) {}
    // `path` names the file of the report: JSON if it ends with .json, else text.
    // Writes it, as was done after each new finding; the last line of a text says how many hazards
    // there are.
    ~Findings();

    // Of equal ones, that of the first launch and block is shown.
    void add(const Finding& finding);
    void addLaunch();
    void addTransfer(bool isCopy);  // else a fill
    // What was found of this kind is no longer so.
    void withdraw(Hazard hazard);
    // Two lines may be ordered by a fence and a flag, which is not judged.
    void addNotJudged(const Place& first, const Place& second);
    // The line looks at memory before it updates it by an atomic, or does not; others updated it
    // meanwhile. Whether an old value does harm is not judged.
    void addOldLook(const Place& place);
    // Some memory was not looked at.
    void incomplete();

  private:
    using Key = std::tuple<Hazard, std::string, std::string, std::string>;

    std::string report() const;
    std::vector<std::string> remarks() const;
    void write() const;

    std::string path_;
    std::mutex mutex_;
    std::map<Key, Finding> findings_;
    std::set<std::pair<std::string, std::string>> notJudged_;  // pairs of lines
    std::set<std::string> oldLooks_;                           // lines
    bool incomplete_ = false;
    uint64_t launches_ = 0, copies_ = 0, fills_ = 0;
};

}  // namespace emu
