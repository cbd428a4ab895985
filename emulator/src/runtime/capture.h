// Stream capture: streams that record a graph instead of running their work.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "emu/runtime_types.h"
#include "graph.h"

namespace emu {

struct Event;
struct Stream;

// One capture from its begin to its end; shared by the streams that take part and by the events
// recorded in them.
struct Capture {
    Nodes nodes;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread;                        // that began it
    std::vector<std::shared_ptr<Stream>> members;  // the first one is where it began
    bool invalid = false;
    bool ended = false;
};

// All but anyCapture() need handleMutex().

// Whether any stream is capturing: a quick answer for the usual case.
bool anyCapture();

// Adds a node to the capture that `stream` takes part in. cudaErrorStreamCaptureInvalidated if that
// was spoiled.
cudaError_t captureNode(Stream& stream, cudaGraphNodeType type, Work work);

// Records that `stream` waits for `event`, where one of the two takes part in a capture.
cudaError_t captureWait(const std::shared_ptr<Stream>& stream, Event& event);

// Takes a stream that is being destroyed out of its capture; a capture that began there ends.
void leaveCapture(Stream& stream);
void endAllCaptures();

// What certain captures forbid, and are spoiled by:
// - calls that may wait for the device, such as allocating, or waiting for a stream or an event;
cudaError_t refuseUnsafe();
// - waiting for all streams;
cudaError_t refuseDeviceSync();
// - work in the legacy stream, as that waits for every blocking stream;
cudaError_t refuseLegacy();
// - waiting for, or asking, a stream or an event that takes part.
cudaError_t refuseWait(const Stream& stream);
cudaError_t refuseWait(const Event& event);

}  // namespace emu
