// Which launches the host knows to have ended, by what it has waited for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

#include "engine/watcher.h"

namespace emu {

// Each stream has a clock: up to which launch of every stream all is done when the stream's work is
// (a vector clock); so have an event, since it was recorded, and the host. Thread-safe.
class StreamOrder {
  public:
    // Work of the stream comes next, from the calling OS thread.
    void streamRuns(const StreamSeen& stream) {
        const std::lock_guard<std::mutex> lock(mutex_);
        current_ = stream.id;
        meetOthers(stream);
    }
    // This launch, counted from 1, is such work; `launch` grows.
    void launched(uint64_t launch) {
        const std::lock_guard<std::mutex> lock(mutex_);
        streams_[current_].clock[current_] = launch;
        streamOf_[launch] = current_;
    }
    void eventRecorded(const void* event) {
        const std::lock_guard<std::mutex> lock(mutex_);
        events_[event] = streams_[current_].clock;
    }
    void streamWaits(const StreamSeen& stream, const void* event) {
        const std::lock_guard<std::mutex> lock(mutex_);
        join(streams_[stream.id].clock, events_[event]);
    }

    void hostWaited() {
        const std::lock_guard<std::mutex> lock(mutex_);
        streamOf_.clear();
    }
    void hostWaitedForStream(const StreamSeen& stream) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (stream.legacy) meetOthers(stream);
        hostLearns(streams_[stream.id].clock);
    }
    void hostWaitedForEvent(const void* event) {
        const std::lock_guard<std::mutex> lock(mutex_);
        hostLearns(events_[event]);
    }

    // The host knows that this launch has ended.
    bool hasEnded(uint64_t launch) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return streamOf_.count(launch) == 0;
    }
    bool allHaveEnded() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return streamOf_.empty();
    }

  private:
    using Clock = std::map<const void*, uint64_t>;
    struct Stream {
        Clock clock;
        bool blocking = false;  // and not the legacy one
    };

    static void join(Clock& clock, const Clock& other) {
        for (const auto& [stream, launch] : other) clock[stream] = std::max(clock[stream], launch);
    }

    // The legacy stream waits for the blocking ones, and they for it.
    void meetOthers(const StreamSeen& stream) {
        Stream& own = streams_[stream.id];
        own.blocking = stream.blocking && !stream.legacy;
        if (stream.legacy) {
            legacy_ = stream.id;
            for (const auto& [id, other] : streams_) {
                if (other.blocking) join(own.clock, other.clock);
            }
        } else if (stream.blocking && legacy_ != nullptr) {
            join(own.clock, streams_[legacy_].clock);
        }
    }

    void hostLearns(const Clock& clock) {
        for (auto launch = streamOf_.begin(); launch != streamOf_.end();) {
            const auto known = clock.find(launch->second);
            const bool ended = known != clock.end() && launch->first <= known->second;
            launch = ended ? streamOf_.erase(launch) : std::next(launch);
        }
    }

    std::mutex mutex_;
    std::map<const void*, Stream> streams_;
    std::map<const void*, Clock> events_;
    std::map<uint64_t, const void*> streamOf_;  // launches that may be running
    const void* legacy_ = nullptr;
    static thread_local const void* current_;
};

}  // namespace emu
