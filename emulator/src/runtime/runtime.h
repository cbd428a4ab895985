// What the files of the runtime API share: the entry of every API function, and the objects behind
// the handles.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "engine/internal.h"
#include "handles.h"

namespace emu {

// ---- Entry of API functions (error.cpp) ---------------------------------------------------------

// Why no call can succeed now: an earlier kernel failed, or the caller is a host function that runs
// in stream order, where CUDA forbids its API. Else cudaSuccess.
cudaError_t entryError();

// Ends the kernel with a message if the caller is a CUDA thread: `name` exists for host code only.
void requireHost(const char* name);

// The body of an API function that kernels may call too.
template <typename Body>
cudaError_t api(Body&& body) {
    cudaError_t error = entryError();
    if (error == cudaSuccess) {
        try {
            error = body();
        } catch (const std::bad_alloc&) {
            error = cudaErrorMemoryAllocation;
        }
    }
    return setLastError(error);
}

// The body of an API function of the host; `name` is __func__.
template <typename Body>
cudaError_t hostApi(const char* name, Body&& body) {
    requireHost(name);
    return api(std::forward<Body>(body));
}

// The body of an API function of the host that needs no working device: it works after a kernel
// failed, too.
template <typename Body>
cudaError_t hostQuery(const char* name, Body&& body) {
    requireHost(name);
    return setLastError(body());
}

// While it lives, the calling thread runs a host function in stream order.
class HostFunctionScope {
  public:
    HostFunctionScope();
    ~HostFunctionScope();
    HostFunctionScope(const HostFunctionScope&) = delete;
    HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};
bool insideHostFunction();

// cudaDeviceReset() for what this file keeps.
void clearErrors();

// ---- Objects behind the handles -----------------------------------------------------------------

using Work = std::function<cudaError_t()>;

// Nodes are shared with the executable graphs made of them, which may outlive their graph.
struct Node {
    cudaGraphNodeType type;
    Work work;
    std::vector<Node*> dependencies;
};

// Nodes in the order in which they were added. Dependencies point backwards only, so this is an
// order in which they may run.
using Nodes = std::vector<std::shared_ptr<Node>>;

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

struct Stream {
    unsigned flags = cudaStreamDefault;
    int priority = 0;
    bool legacy = false;    // stream 0: it waits for all blocking streams, and they for it
    bool ofDevice = false;  // created by a kernel

    std::mutex running;  // held while work of this stream runs

    // Guarded by handleMutex()
    std::shared_ptr<Capture> capture;
    std::vector<Node*> tails;  // the nodes that the next captured work depends on

    bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }
};

struct Event {
    unsigned flags = cudaEventDefault;
    bool ofDevice = false;

    // Guarded by handleMutex()
    bool recorded = false;
    std::chrono::steady_clock::time_point time;
    std::shared_ptr<Capture> capture;  // of its last record, if that was captured
    std::vector<Node*> tails;
};

// Guards the tables of handles and the state of captures. Never held while work runs.
std::mutex& handleMutex();

// ---- Streams (stream.cpp) -----------------------------------------------------------------------

// The stream behind a handle that the caller may use, else nullptr. Needs handleMutex().
std::shared_ptr<Stream> findStream(cudaStream_t handle);

// submit() for work that is a node of type `type` if it is recorded.
cudaError_t submitNode(cudaStream_t stream, cudaGraphNodeType type, Work work);

// Refuses work that cannot be recorded if the stream is capturing, which that spoils.
cudaError_t refuseCapturing(cudaStream_t stream);

// Whether submitted work may run after submitNode() has returned: recorded, or called by a kernel.
// Arguments are then checked at once, as CUDA does, and again when the work runs.
bool mayRunLater();

void destroyStreams();

// ---- Events (event.cpp) -------------------------------------------------------------------------

// The event behind a handle that the caller may use, else nullptr. Needs handleMutex().
std::shared_ptr<Event> findEvent(cudaEvent_t handle);

void destroyEvents();

// ---- Captures (capture.cpp); all but anyCapture() need handleMutex() ----------------------------

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

// ---- Graphs (graph.cpp) -------------------------------------------------------------------------

// The handle of a new graph. Needs handleMutex().
cudaGraph_t makeGraph(Nodes nodes);

void destroyGraphs();

}  // namespace emu
