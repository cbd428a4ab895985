// Streams: work runs when it is submitted, one piece at a time per stream.
#include "emu/api/streams.h"

#include <algorithm>
#include <shared_mutex>
#include <utility>

#include "capture.h"
#include "engine/allocations.h"
#include "engine/grid.h"
#include "engine/scheduler.h"
#include "error.h"
#include "handles.h"
#include "stream.h"

namespace emu {
namespace {

// As on devices of compute capability 9.0; a lower number is a higher priority.
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

using StreamTable = HandleTable<cudaStream_t, Stream>;

StreamTable& streams() {
    static StreamTable& table = *new StreamTable;  // never destroyed: used by static destructors
    return table;
}

thread_local bool zeroIsPerThread = false;  // stream 0, in a call of the host

// Of the handle 0 kernels have their own.
bool isLegacy(cudaStream_t handle) {
    if (handle == nullptr) return !zeroIsPerThread || inDevice();
    return handle == cudaStreamLegacy;
}

const std::shared_ptr<Stream>& legacyStream() {
    static const auto& stream = *new std::shared_ptr<Stream>([] {
        auto legacy = std::make_shared<Stream>();
        legacy->legacy = true;
        return legacy;
    }());
    return stream;
}

const std::shared_ptr<Stream>& perThreadStream() {
    thread_local const auto stream = [] {
        auto own = std::make_shared<Stream>();
        own->number = nextStreamNumber();
        return own;
    }();
    return stream;
}

// Held exclusively by work of the legacy stream and shared by work of blocking streams, as these
// wait for one another.
std::shared_mutex& legacyMutex() {
    static std::shared_mutex& mutex = *new std::shared_mutex;
    return mutex;
}

// After a kernel has failed nothing is carried out any more, but what gives memory or takes it
// back.
cudaError_t runInStream(Stream& stream, cudaGraphNodeType type, const Work& work) {
    if (stickyError() != cudaSuccess && type != cudaGraphNodeTypeEmpty) return cudaSuccess;
    std::unique_lock<std::shared_mutex> exclusive(legacyMutex(), std::defer_lock);
    std::shared_lock<std::shared_mutex> shared(legacyMutex(), std::defer_lock);
    std::unique_lock<std::mutex> turn(stream.running, std::defer_lock);
    if (stream.legacy) {
        exclusive.lock();
    } else {
        if (stream.blocking()) shared.lock();
        turn.lock();
    }
    if (watcher != nullptr) watcher->streamRuns(stream.seen());
    traceStream(stream.number);
    return asynchronous(work());
}

// Kernels have no access to streams of the host. Their own run after the grid, in launch order.
cudaError_t submitFromKernel(cudaStream_t handle, Work work) {
    {
        const std::lock_guard<std::mutex> lock(handleMutex());
        if (findStream(handle) == nullptr) return noSuchHandle("stream");
    }
    runAfterGrid(std::move(work), handle == cudaStreamTailLaunch);
    return cudaSuccess;
}

cudaError_t createStream(cudaStream_t* handle, unsigned flags, int priority) {
    if (handle == nullptr || (flags & ~cudaStreamNonBlocking) != 0) return cudaErrorInvalidValue;
    auto stream = std::make_shared<Stream>();
    stream->flags = flags;
    stream->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
    stream->ofDevice = inDevice();
    stream->number = nextStreamNumber();
    const std::lock_guard<std::mutex> lock(handleMutex());
    *handle = streams().insert(std::move(stream));
    return cudaSuccess;
}

// What is in the stream has been done: only a capture, and who watches, want to know of a wait.
template <typename Tell>
cudaError_t waitThen(cudaStream_t handle, Tell tell) {
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Stream> stream = findStream(handle);
    if (stream == nullptr) return noSuchHandle("stream");
    if (anyCapture()) return refuseWait(*stream);
    const cudaError_t error = waitedFailure();
    if (error == cudaSuccess && watcher != nullptr) tell(stream->seen());
    return error;
}

// Reads a property of a stream into `*result`.
template <typename T, typename Read>
cudaError_t queryStream(cudaStream_t handle, T* result, Read read) {
    if (result == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Stream> stream = findStream(handle);
    if (stream == nullptr) return noSuchHandle("stream");
    *result = read(*stream);
    return cudaSuccess;
}

}  // namespace

std::mutex& handleMutex() {
    static std::mutex& mutex = *new std::mutex;
    return mutex;
}

std::shared_ptr<Stream> findStream(cudaStream_t handle) {
    if (isLegacy(handle)) return legacyStream();
    if (handle == nullptr || handle == cudaStreamPerThread) return perThreadStream();
    if (isLaunchMode(handle)) return inDevice() ? legacyStream() : nullptr;
    std::shared_ptr<Stream> stream = streams().find(handle);
    return stream != nullptr && stream->ofDevice == inDevice() ? stream : nullptr;
}

bool isLaunchMode(cudaStream_t handle) {
    return handle == cudaStreamTailLaunch || handle == cudaStreamFireAndForget;
}

cudaError_t waitForStream(cudaStream_t handle) {
    return waitThen(handle, [](const StreamSeen& stream) { watcher->hostWaitedForStream(stream); });
}

cudaError_t copyReturns(cudaStream_t handle, const BytesSeen& written) {
    return waitThen(handle,
                    [&](const StreamSeen& stream) { watcher->copyReturns(stream, written); });
}

cudaError_t submit(cudaStream_t stream, Work work) {
    return submitNode(stream, cudaGraphNodeTypeKernel, std::move(work));
}

cudaError_t submitNode(cudaStream_t handle, cudaGraphNodeType type, Work work) {
    if (inDevice()) return submitFromKernel(handle, std::move(work));
    if (insideHostFunction()) return cudaErrorNotPermitted;
    // The most frequent case needs no lock: this stream is always there.
    if (isLegacy(handle) && !anyCapture()) return runInStream(*legacyStream(), type, work);
    std::shared_ptr<Stream> stream;
    {
        const std::lock_guard<std::mutex> lock(handleMutex());
        stream = findStream(handle);
        if (stream == nullptr) return noSuchHandle("stream");
        if (anyCapture()) {
            if (stream->capture) return captureNode(*stream, type, std::move(work));
            const cudaError_t error = stream->legacy ? refuseLegacy() : cudaSuccess;
            if (error != cudaSuccess) return error;
        }
    }
    return runInStream(*stream, type, work);
}

cudaError_t refuseCapturing(cudaStream_t handle) {
    if (!anyCapture()) return cudaSuccess;
    const std::lock_guard<std::mutex> lock(handleMutex());
    const std::shared_ptr<Stream> stream = findStream(handle);
    return stream != nullptr && stream->capture ? refuseWait(*stream) : cudaSuccess;
}

bool mayRunLater() {
    return anyCapture() || inDevice();
}

// (A call of a kernel may not return: it would stay so for the host.)
PerThreadDefaultStream::PerThreadDefaultStream()
    : before_(std::exchange(zeroIsPerThread, zeroIsPerThread || !inDevice())) {}
PerThreadDefaultStream::~PerThreadDefaultStream() {
    zeroIsPerThread = before_;
}

void destroyStreams() {
    const std::lock_guard<std::mutex> lock(handleMutex());
    endAllCaptures();
    streams().clear();
}

}  // namespace emu

using namespace emu;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return hostApi(__func__, [&] { return createStream(stream, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    return api([&] { return createStream(stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    return hostApi(__func__, [&] { return createStream(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    return api([&] {
        const std::lock_guard<std::mutex> lock(handleMutex());
        const std::shared_ptr<Stream> stream = findStream(handle);
        // The streams with a fixed handle are in no table and cannot be destroyed.
        if (stream == nullptr || streams().remove(handle) == nullptr) {
            return noSuchHandle("stream that can be destroyed");
        }
        leaveCapture(*stream);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    return hostApi(__func__, [&] {
        return queryStream(stream, priority, [](const Stream& s) { return s.priority; });
    });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
    return hostApi(__func__, [&] {
        return queryStream(stream, flags, [](const Stream& s) { return s.flags; });
    });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
    return hostApi(__func__,
                   [&] { return queryStream(stream, device, [](const Stream&) { return 0; }); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return hostApi(__func__, [&] {
        if (least != nullptr) *least = kLeastPriority;
        if (greatest != nullptr) *greatest = kGreatestPriority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return hostApi(__func__, [&] { return waitForStream(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return hostApi(__func__, [&] { return waitForStream(stream); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* userData) {
    return hostApi(__func__, [&] {
        if (function == nullptr) return cudaErrorInvalidValue;
        return submitNode(stream, cudaGraphNodeTypeHost, [=] {
            const HostFunctionScope scope;
            function(userData);
            return cudaSuccess;
        });
    });
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback,
                                  void* userData, unsigned int flags) {
    return hostApi(__func__, [&] {
        if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
        const cudaError_t error = refuseCapturing(handle);
        if (error != cudaSuccess) return error;
        return submitNode(handle, cudaGraphNodeTypeHost, [=] {
            const HostFunctionScope scope;
            callback(handle, cudaSuccess, userData);
            return cudaSuccess;
        });
    });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* managed, size_t length,
                                     unsigned int flags) {
    return hostApi(__func__, [&] {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
            flags != cudaMemAttachSingle) {
            return cudaErrorInvalidValue;
        }
        const std::optional<Allocation> allocation = findAllocation(managed);
        if (!allocation || allocation->kind != MemoryKind::Managed || allocation->base != managed ||
            (length != 0 && length != allocation->size)) {
            return cudaErrorInvalidValue;
        }
        return submitNode(stream, cudaGraphNodeTypeEmpty, [] { return cudaSuccess; });
    });
}
