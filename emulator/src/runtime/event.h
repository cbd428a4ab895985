// Events: a time, or a place in a capture.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "capture.h"
#include "emu/runtime_types.h"
#include "graph.h"
#include "handles.h"

namespace emu {

struct Event {
    unsigned flags = cudaEventDefault;
    bool ofDevice = false;
    const uint64_t number = nextNumber();

    // Guarded by handleMutex()
    bool recorded = false;
    std::chrono::steady_clock::time_point time;
    std::shared_ptr<Capture> capture;  // of its last record, if that was captured
    std::vector<Node*> tails;
};

// The event behind a handle that the caller may use, else nullptr. Needs handleMutex().
std::shared_ptr<Event> findEvent(cudaEvent_t handle);

void destroyEvents();

}  // namespace emu
