// Streams, and the order in which their work runs.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "capture.h"
#include "emu/runtime_types.h"
#include "engine/watcher.h"
#include "graph.h"
#include "trace.h"

namespace emu {

struct Stream {
    unsigned flags = cudaStreamDefault;
    int priority = 0;
    bool legacy = false;    // stream 0: it waits for all blocking streams, and they for it
    bool ofDevice = false;  // created by a kernel
    unsigned number = kDefaultStreamNumber;

    std::mutex running;  // held while work of this stream runs

    // Guarded by handleMutex()
    std::shared_ptr<Capture> capture;
    std::vector<Node*> tails;  // the nodes that the next captured work depends on

    bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }
    StreamSeen seen() const { return {number, legacy, blocking()}; }
};

// Guards the tables of handles and the state of captures. Never held while work runs.
std::mutex& handleMutex();

// The stream behind a handle that the caller may use, else nullptr. Needs handleMutex().
std::shared_ptr<Stream> findStream(cudaStream_t handle);

// The tail launch stream of a kernel, or the one to fire and forget. Events are refused there.
bool isLaunchMode(cudaStream_t handle);

// Runs `work` now, or records it as a node of type `type` if `stream` is capturing. Work of a
// kernel runs after its grid. Returns cudaErrorInvalidResourceHandle for a stream that does not
// exist, else what `work` returned. Does not call setLastError().
cudaError_t submitNode(cudaStream_t stream, cudaGraphNodeType type, Work work);

// submitNode() for a kernel, or what is recorded like one.
cudaError_t submit(cudaStream_t stream, Work work);

// Refuses work that cannot be recorded if the stream is capturing, which that spoils.
cudaError_t refuseCapturing(cudaStream_t stream);

// Whether submitted work may run after submitNode() has returned: recorded, or called by a kernel.
// Arguments are then checked at once, as CUDA does, and again when the work runs.
bool mayRunLater();

// All work of the stream is done; what remains are the errors.
cudaError_t waitForStream(cudaStream_t stream);
// The same at the end of an asynchronous copy that CUDA completes before it returns.
cudaError_t copyReturns(cudaStream_t stream, const BytesSeen& written);

void destroyStreams();

}  // namespace emu
