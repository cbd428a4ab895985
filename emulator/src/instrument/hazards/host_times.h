// The times that the host takes, by its own clocks and by events, and has not waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/grid.h"
#include "findings.h"
#include "instrument/record/stream_order.h"

namespace emu {

// Thread-safe.
class HostTimes {
  public:
    // `add` takes what is found, and the place in the host's code.
    HostTimes(StreamOrder& order, std::function<void(Finding, uintptr_t)> add)
        : order_(order), add_(std::move(add)) {}

    void kernelBegins(uint64_t work, const Grid& grid);
    // The host has waited for something; it does something that is neither a wait nor a reading.
    void waited();
    void somethingElse();
    // As those of Watcher.
    void eventRecorded(uint64_t event);
    void elapsedTimeRead(uint64_t start, uint64_t end);
    void clockRead(uintptr_t pc);

    // The name of the kernel that began last.
    std::string lastKernel() const;
    // At the program's end: what has not been added.
    std::vector<Finding> rest() const;

  private:
    // The kernel that began last.
    struct LastKernel {
        uint64_t work = 0;
        const char* name = nullptr;
        const void* id = nullptr;
    };

    // A thread's last reading of a clock, and which kernel had begun last.
    struct Timing {
        uintptr_t pc = 0;
        uint64_t kernel = 0;
        std::vector<Finding> wrong;  // one, until it is clear what the program measures
        bool hasWaited = false;      // since, or since a kernel has begun
    };

    StreamOrder& order_;
    std::function<void(Finding, uintptr_t)> add_;
    std::mutex mutex_;
    LastKernel lastKernel_;
    std::map<std::thread::id, Timing> timings_;
    std::map<uint64_t, uintptr_t> recorded_;  // where, by the event
};

}  // namespace emu
