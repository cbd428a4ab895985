// Which work of streams has ended before which, and which the host knows to have ended, by what it
// has waited for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/watcher.h"

namespace emu {

// A stream, by its number; or a node of an executable graph, by the number of that.
using Track = std::pair<uint64_t, const void*>;

// What has ended.
struct StreamClock {
    std::map<Track, uint64_t> ended;  // by track, up to which work all has (a vector clock)
    uint64_t chain = 0;               // the most of it in a chain, each after the one before

    void join(const StreamClock& other) {
        for (const auto& [track, work] : other.ended) ended[track] = std::max(ended[track], work);
        chain = std::max(chain, other.chain);
    }
    bool reaches(const Track& track, uint64_t work) const {
        const auto known = ended.find(track);
        return known != ended.end() && work <= known->second;
    }
};

// A launch, a copy or a fill.
struct Work {
    uint64_t number = 0;  // from 1; grows
    StreamClock before;   // what has ended when it begins, and itself
};

// Each stream has a clock: what is done when its work so far is; so have an event, since it was
// recorded, and the host. Thread-safe.
class StreamOrder {
  public:
    // Work of the stream comes next, from the calling OS thread.
    void streamRuns(const StreamSeen& stream) {
        const std::lock_guard<std::mutex> lock(mutex_);
        current_ = trackOf(stream);
        meetOthers(stream);
    }
    // This is such work.
    Work begins() {
        const std::lock_guard<std::mutex> lock(mutex_);
        StreamClock& clock = streams_[current_].clock;
        clock.ended[current_] = ++count_;
        clock.chain = std::max(clock.chain, hostChain_) + 1;
        streamOf_[count_] = current_;
        return {count_, clock};
    }
    // Such work is a graph, and begins or has been done. Each of its nodes is like a stream, which
    // begins after those that it depends on.
    void graphRuns(uint64_t executable, bool now) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (now) {
            graph_ = current_;
            executable_ = executable;
            streams_[graph_].clock.join(events_[executable]);
            return;
        }
        current_ = graph_;
        for (const Track& node : nodes_[graph_]) {
            streams_[graph_].clock.join(streams_[node].clock);
        }
        nodes_.erase(graph_);
        events_[executable] = streams_[graph_].clock;
    }
    void graphNodeRuns(const void* node, const std::vector<const void*>& after) {
        const std::lock_guard<std::mutex> lock(mutex_);
        StreamClock clock = streams_[graph_].clock;
        for (const void* other : after) clock.join(streams_[{executable_, other}].clock);
        current_ = {executable_, node};
        streams_[current_].clock = std::move(clock);
        nodes_[graph_].push_back(current_);
    }
    void eventRecorded(uint64_t event) {
        const std::lock_guard<std::mutex> lock(mutex_);
        events_[event] = streams_[current_].clock;
        waitsBefore_[event] = waits_;
    }
    void streamWaits(const StreamSeen& stream, uint64_t event) {
        const std::lock_guard<std::mutex> lock(mutex_);
        streams_[trackOf(stream)].clock.join(events_[event]);
    }

    void hostWaited() {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const auto& [track, stream] : streams_)
            hostChain_ = std::max(hostChain_, stream.clock.chain);
        streamOf_.clear();
        ++waits_;
    }
    void hostWaitedForStream(const StreamSeen& stream) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (stream.legacy) meetOthers(stream);
        hostLearns(streams_[trackOf(stream)].clock);
    }
    void hostWaitedForEvent(uint64_t event) {
        const std::lock_guard<std::mutex> lock(mutex_);
        hostLearns(events_[event]);
    }
    // A host function of the stream has run, on the calling OS thread: it may have told the host
    // so.
    void hostFunctionRan() {
        const std::lock_guard<std::mutex> lock(mutex_);
        hostLearns(streams_[current_].clock);
    }

    // How much work there has been.
    uint64_t count() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return count_;
    }
    // The host knows that the work with this number has ended.
    bool hasEnded(uint64_t number) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return streamOf_.count(number) == 0;
    }
    bool allHaveEnded() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return streamOf_.empty();
    }
    // The host has waited since the event was recorded, and for all that comes before the event.
    bool hasWaitedFor(uint64_t event) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const StreamClock& clock = events_[event];
        return waitsBefore_[event] < waits_ &&
               std::none_of(streamOf_.begin(), streamOf_.end(), [&](const auto& work) {
                   return clock.reaches(work.second, work.first);
               });
    }
    // The work with this number has ended when `work` begins, or is that work.
    bool isBefore(uint64_t number, const Work& work) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto stream = streamOf_.find(number);
        return stream == streamOf_.end() || work.before.reaches(stream->second, number);
    }
    bool allAreBefore(const Work& work) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return std::all_of(streams_.begin(), streams_.end(), [&](const auto& entry) {
            const auto& [id, stream] = entry;
            const auto last = stream.clock.ended.find(id);
            return last == stream.clock.ended.end() || streamOf_.count(last->second) == 0 ||
                   work.before.reaches(id, last->second);
        });
    }

  private:
    struct Stream {
        StreamClock clock;
        bool blocking = false;  // and not the legacy one
    };

    static Track trackOf(const StreamSeen& stream) { return {stream.number, nullptr}; }

    // The legacy stream waits for the blocking ones, and they for it.
    void meetOthers(const StreamSeen& stream) {
        Stream& own = streams_[trackOf(stream)];
        own.blocking = stream.blocking && !stream.legacy;
        if (stream.legacy) {
            legacy_ = trackOf(stream);
            for (const auto& [id, other] : streams_) {
                if (other.blocking) own.clock.join(other.clock);
            }
        } else if (stream.blocking && legacy_ != Track()) {
            own.clock.join(streams_[legacy_].clock);
        }
    }

    void hostLearns(const StreamClock& clock) {
        ++waits_;
        hostChain_ = std::max(hostChain_, clock.chain);
        for (auto work = streamOf_.begin(); work != streamOf_.end();) {
            work =
                clock.reaches(work->second, work->first) ? streamOf_.erase(work) : std::next(work);
        }
    }

    std::mutex mutex_;
    std::map<Track, Stream> streams_;
    std::map<uint64_t, StreamClock> events_;     // and executable graphs
    std::map<uint64_t, uint64_t> waitsBefore_;   // events were recorded
    uint64_t waits_ = 0;                         // of the host
    std::map<uint64_t, Track> streamOf_;         // work that may be running
    std::map<Track, std::vector<Track>> nodes_;  // of graphs, by the stream they run in
    uint64_t count_ = 0;
    uint64_t hostChain_ = 0;  // of what the host has waited for
    Track legacy_;
    static inline thread_local Track current_, graph_;
    static inline thread_local uint64_t executable_ = 0;
};

}  // namespace emu
