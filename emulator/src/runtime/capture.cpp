// Stream capture: streams that record a graph instead of running their work.
#include <algorithm>
#include <atomic>
#include <unordered_set>

#include "capture.h"
#include "emu/api/graphs.h"
#include "error.h"
#include "event.h"
#include "graph.h"
#include "stream.h"

namespace emu {
namespace {

using Captures = std::vector<std::shared_ptr<Capture>>;

// Guarded by handleMutex(), like all state here but the count, which anyCapture() reads.
Captures& activeCaptures() {
    static Captures& captures = *new Captures;
    return captures;
}
std::atomic<size_t> activeCount{0};

void end(Capture& capture) {
    capture.ended = true;
    for (const std::shared_ptr<Stream>& member : capture.members) {
        member->capture = nullptr;
        member->tails.clear();
    }
    capture.members.clear();
    Captures& active = activeCaptures();
    active.erase(std::remove_if(active.begin(), active.end(),
                                [&](const auto& other) { return other.get() == &capture; }),
                 active.end());
    activeCount = active.size();
}

void join(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Capture>& capture) {
    stream->capture = capture;
    capture->members.push_back(stream);
}

void addTails(std::vector<Node*>& tails, const std::vector<Node*>& more) {
    for (Node* node : more) {
        if (std::find(tails.begin(), tails.end(), node) == tails.end()) tails.push_back(node);
    }
}

// Whether the stream in which the capture began depends on all captured work.
bool isJoined(const Capture& capture) {
    std::unordered_set<const Node*> reached;
    std::vector<const Node*> open(capture.members.front()->tails.begin(),
                                  capture.members.front()->tails.end());
    while (!open.empty()) {
        const Node* node = open.back();
        open.pop_back();
        if (!reached.insert(node).second) continue;
        open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
    }
    return reached.size() == capture.nodes.size();
}

// Spoils the captures that `forbids` holds for; `error` if there was one.
template <typename Forbids>
cudaError_t refuse(cudaError_t error, Forbids forbids) {
    cudaError_t result = cudaSuccess;
    for (const std::shared_ptr<Capture>& capture : activeCaptures()) {
        if (!forbids(*capture)) continue;
        capture->invalid = true;
        result = error;
    }
    return result;
}

bool hasBlockingStream(const Capture& capture) {
    return std::any_of(capture.members.begin(), capture.members.end(),
                       [](const auto& member) { return member->blocking(); });
}

// What ending the capture says of it.
cudaError_t outcomeOf(const Capture& capture) {
    if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
    const bool foreign = capture.thread != std::this_thread::get_id();
    if (foreign && capture.mode != cudaStreamCaptureModeRelaxed) {
        return cudaErrorStreamCaptureWrongThread;
    }
    return isJoined(capture) ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
}

cudaError_t beginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
        return cudaErrorInvalidValue;
    }
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Stream> stream = findStream(handle);
    if (stream == nullptr) return noSuchHandle("stream");
    if (stream->legacy) return cudaErrorStreamCaptureUnsupported;
    if (stream->capture) return cudaErrorIllegalState;
    const auto capture = std::make_shared<Capture>();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    join(stream, capture);
    activeCaptures().push_back(capture);
    activeCount = activeCaptures().size();
    return cudaSuccess;
}

cudaError_t endCapture(cudaStream_t handle, cudaGraph_t* graph) {
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Stream> stream = findStream(handle);
    if (stream == nullptr) return noSuchHandle("stream");
    const std::shared_ptr<Capture> capture = stream->capture;
    if (capture == nullptr) return cudaErrorIllegalState;
    if (capture->members.front() != stream) {
        capture->invalid = true;
        return cudaErrorStreamCaptureUnmatched;
    }
    const cudaError_t error = outcomeOf(*capture);
    // A null pointer drops the graph.
    if (graph != nullptr) {
        *graph = error == cudaSuccess ? makeGraph(std::move(capture->nodes)) : nullptr;
    }
    end(*capture);
    return error;
}

cudaError_t captureStatus(cudaStream_t handle, cudaStreamCaptureStatus* status) {
    if (status == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Stream> stream = findStream(handle);
    if (stream == nullptr) return noSuchHandle("stream");
    *status = !stream->capture           ? cudaStreamCaptureStatusNone
              : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

}  // namespace

bool anyCapture() {
    return activeCount.load(std::memory_order_relaxed) != 0;
}

cudaError_t captureNode(Stream& stream, cudaGraphNodeType type, Work work) {
    Capture& capture = *stream.capture;
    if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
    capture.nodes.push_back(std::make_shared<Node>(Node{type, std::move(work), stream.tails}));
    stream.tails = {capture.nodes.back().get()};
    return cudaSuccess;
}

cudaError_t captureWait(const std::shared_ptr<Stream>& stream, Event& event) {
    if (!event.capture) {
        if (!stream->capture) return stream->legacy ? refuseLegacy() : cudaSuccess;
        if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
        if (!event.recorded) return cudaSuccess;
        stream->capture->invalid = true;
        return cudaErrorStreamCaptureIsolation;
    }
    if (event.capture->ended) return cudaErrorInvalidValue;
    if (event.capture->invalid) return cudaErrorStreamCaptureInvalidated;
    if (stream->legacy) {
        event.capture->invalid = true;
        return cudaErrorStreamCaptureImplicit;
    }
    if (!stream->capture) {
        join(stream, event.capture);
    } else if (stream->capture != event.capture) {
        stream->capture->invalid = true;
        event.capture->invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    addTails(stream->tails, event.tails);
    return cudaSuccess;
}

void leaveCapture(Stream& stream) {
    const std::shared_ptr<Capture> capture = stream.capture;
    if (!capture) return;
    if (capture->members.front().get() == &stream) {
        end(*capture);
        return;
    }
    stream.capture = nullptr;
    stream.tails.clear();
    std::vector<std::shared_ptr<Stream>>& members = capture->members;
    members.erase(std::remove_if(members.begin(), members.end(),
                                 [&](const auto& member) { return member.get() == &stream; }),
                  members.end());
}

void endAllCaptures() {
    while (!activeCaptures().empty()) end(*std::shared_ptr<Capture>(activeCaptures().back()));
}

cudaError_t refuseUnsafe() {
    return refuse(cudaErrorStreamCaptureUnsupported, [](const Capture& capture) {
        return capture.mode == cudaStreamCaptureModeGlobal ||
               (capture.mode == cudaStreamCaptureModeThreadLocal &&
                capture.thread == std::this_thread::get_id());
    });
}

cudaError_t refuseDeviceSync() {
    return refuse(cudaErrorStreamCaptureUnsupported, [](const Capture&) { return true; });
}

cudaError_t refuseLegacy() {
    return refuse(cudaErrorStreamCaptureImplicit, hasBlockingStream);
}

cudaError_t refuseWait(const Stream& stream) {
    if (stream.capture) {
        stream.capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    const cudaError_t error = stream.legacy ? refuseLegacy() : cudaSuccess;
    return error != cudaSuccess ? error : refuseUnsafe();
}

cudaError_t refuseWait(const Event& event) {
    if (!event.capture) return refuseUnsafe();
    if (event.capture->ended) return cudaErrorInvalidValue;
    event.capture->invalid = true;
    return cudaErrorCapturedEvent;
}

}  // namespace emu

using namespace emu;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return hostApi(__func__, [&] { return beginCapture(stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return hostApi(__func__, [&] { return endCapture(stream, graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return hostApi(__func__, [&] { return captureStatus(stream, status); });
}
