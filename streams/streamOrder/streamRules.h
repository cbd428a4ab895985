#pragma once
// Which streams wait for which by themselves, without an event: streamOrder.

enum class StreamKind {
    kLegacy,       // the default stream, unless a source is compiled for the other one
    kPerThread,    // the default stream of each thread of the host
    kBlocking,     // of cudaStreamCreate()
    kNonBlocking,  // created with cudaStreamNonBlocking
};

struct NamedStream {
    char letter;  // no two streams of a program have the same
    StreamKind kind;
};

// Which kind stream 0 is, in a source that is compiled like this.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
inline constexpr StreamKind kStreamZero = StreamKind::kPerThread;
#else
inline constexpr StreamKind kStreamZero = StreamKind::kLegacy;
#endif

// Of each kind of default stream there is one, for a thread of the host.
inline bool isSameStream(const NamedStream& a, const NamedStream& b) {
    const bool isDefault = a.kind == StreamKind::kLegacy || a.kind == StreamKind::kPerThread;
    return isDefault ? a.kind == b.kind : a.letter == b.letter;
}

// Work is given to `first`, then to `second`: does that wait for it? In one stream it does; the
// legacy stream waits for all others, and they for it, but for those that are non-blocking.
inline bool waitsByItself(const NamedStream& first, const NamedStream& second) {
    if (isSameStream(first, second)) return true;
    const auto eitherIs = [&](StreamKind kind) {
        return first.kind == kind || second.kind == kind;
    };
    return eitherIs(StreamKind::kLegacy) && !eitherIs(StreamKind::kNonBlocking);
}
