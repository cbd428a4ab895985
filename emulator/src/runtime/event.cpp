// Events: a time on the host's steady clock, or a place in a capture; and the streams that wait for
// them.
#include "emu/api/events.h"

#include "emu/api/streams.h"
#include "engine/scheduler.h"
#include "engine/watcher.h"
#include "error.h"
#include "event.h"
#include "handles.h"
#include "stream.h"

namespace emu {
namespace {

using EventTable = HandleTable<cudaEvent_t, Event>;

EventTable& events() {
    static EventTable& table = *new EventTable;
    return table;
}

cudaError_t createEvent(cudaEvent_t* handle, unsigned flags) {
    constexpr unsigned kKnown =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (handle == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    const bool timed = (flags & cudaEventDisableTiming) == 0;
    // CUDA has no timing across processes, and none in kernels.
    if (timed && ((flags & cudaEventInterprocess) != 0 || inDevice())) return cudaErrorInvalidValue;
    auto event = std::make_shared<Event>();
    event->flags = flags;
    event->ofDevice = inDevice();
    const std::lock_guard<std::mutex> lock(handleMutex());
    *handle = events().insert(std::move(event));
    return cudaSuccess;
}

void setRecorded(Event& event) {
    const std::lock_guard<std::mutex> lock(handleMutex());
    event.recorded = true;
    event.capture = nullptr;
    event.tails.clear();
    event.time = std::chrono::steady_clock::now();
    if (watcher != nullptr) watcher->eventRecorded(event.number);
}

cudaError_t recordEvent(cudaEvent_t eventHandle, cudaStream_t streamHandle, unsigned flags) {
    if ((flags & ~cudaEventRecordExternal) != 0) return cudaErrorInvalidValue;
    if (inDevice() && isLaunchMode(streamHandle)) return cudaErrorInvalidValue;
    std::shared_ptr<Event> event;
    {
        const std::lock_guard<std::mutex> lock(handleMutex());
        event = findEvent(eventHandle);
        const std::shared_ptr<Stream> stream = findStream(streamHandle);
        if (event == nullptr || stream == nullptr) {
            return noSuchHandle(event == nullptr ? "event" : "stream");
        }
        const bool external = flags == cudaEventRecordExternal;
        if (external && !stream->capture) return cudaErrorIllegalState;
        if (stream->capture && !external) {
            // A place in the graph, for others to depend on; nothing is recorded at the launch.
            if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
            event->capture = stream->capture;
            event->tails = stream->tails;
            return cudaSuccess;
        }
    }
    if (inDevice()) return cudaSuccess;  // an order that launches from kernels have anyway
    return submitNode(streamHandle, cudaGraphNodeTypeEventRecord, [event] {
        setRecorded(*event);
        return cudaSuccess;
    });
}

// What the event stands for has been done: only a capture, and who watches, want to know.
cudaError_t waitInStream(cudaStream_t streamHandle, cudaEvent_t eventHandle, unsigned flags) {
    if ((flags & ~cudaEventWaitExternal) != 0) return cudaErrorInvalidValue;
    if (inDevice() && isLaunchMode(streamHandle)) return cudaErrorInvalidValue;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Stream> stream = findStream(streamHandle);
    const std::shared_ptr<Event> event = findEvent(eventHandle);
    if (stream == nullptr || event == nullptr) {
        return noSuchHandle(event == nullptr ? "event" : "stream");
    }
    if (flags == cudaEventWaitExternal) {
        if (!stream->capture) return cudaErrorIllegalState;
        return captureNode(*stream, cudaGraphNodeTypeWaitEvent, [] { return cudaSuccess; });
    }
    if (anyCapture() || event->capture) return captureWait(stream, *event);
    if (watcher != nullptr) watcher->streamWaits(stream->seen(), event->number);
    return cudaSuccess;
}

// What the event stands for has been done; what remains are the errors.
cudaError_t waitForEvent(cudaEvent_t handle) {
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Event> event = findEvent(handle);
    if (event == nullptr) return noSuchHandle("event");
    if (anyCapture() || event->capture) return refuseWait(*event);
    const cudaError_t error = waitedFailure();
    if (error == cudaSuccess && watcher != nullptr) watcher->hostWaitedForEvent(event->number);
    return error;
}

cudaError_t elapsedTime(float* milliseconds, cudaEvent_t startHandle, cudaEvent_t endHandle) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = waitedFailure();
    if (error != cudaSuccess) return error;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Event> start = findEvent(startHandle);
    const std::shared_ptr<Event> end = findEvent(endHandle);
    if (start == nullptr || end == nullptr) return noSuchHandle("event");
    for (const Event* event : {start.get(), end.get()}) {
        if (event->capture) {
            return event->capture->ended ? cudaErrorInvalidValue : cudaErrorCapturedEvent;
        }
        const char* const which = event == start.get() ? "the first event " : "the second event ";
        if ((event->flags & cudaEventDisableTiming) != 0) {
            return because(cudaErrorInvalidResourceHandle, [=] {
                return std::string(which) + "was created with cudaEventDisableTiming";
            });
        }
        if (!event->recorded) {
            return because(cudaErrorInvalidResourceHandle, [=] {
                return std::string(which) + "was never recorded: cudaEventRecord() comes first";
            });
        }
    }
    if (watcher != nullptr) watcher->elapsedTimeRead(start->number, end->number);
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
}

}  // namespace

std::shared_ptr<Event> findEvent(cudaEvent_t handle) {
    std::shared_ptr<Event> event = events().find(handle);
    return event != nullptr && event->ofDevice == inDevice() ? event : nullptr;
}

void destroyEvents() {
    const std::lock_guard<std::mutex> lock(handleMutex());
    events().clear();
}

}  // namespace emu

using namespace emu;

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return hostApi(__func__, [&] { return createEvent(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    return api([&] { return createEvent(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return api([&] {
        const std::lock_guard<std::mutex> lock(handleMutex());
        if (findEvent(event) == nullptr) return noSuchHandle("event");
        events().remove(event);
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return api([&] { return recordEvent(event, stream, cudaEventRecordDefault); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    return api([&] { return recordEvent(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return hostApi(__func__, [&] { return waitForEvent(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return hostApi(__func__, [&] { return waitForEvent(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return hostApi(__func__, [&] { return elapsedTime(milliseconds, start, end); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    return api([&] { return waitInStream(stream, event, flags); });
}
