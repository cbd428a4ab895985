#include "host_times.h"

#include <utility>

#include "engine/program_symbols.h"
#include "engine/symbolizer.h"
#include "host_check.h"

namespace emu {

void HostTimes::kernelBegins(uint64_t work, const Grid& grid) {
    somethingElse();
    const std::lock_guard<std::mutex> lock(mutex_);
    lastKernel_ = {work, grid.call.name, grid.call.id};
    const auto timing = timings_.find(std::this_thread::get_id());
    if (timing != timings_.end()) timing->second.hasWaited = false;
}

void HostTimes::waited() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto timing = timings_.find(std::this_thread::get_id());
    if (timing != timings_.end()) timing->second.hasWaited = true;
}

std::string HostTimes::lastKernel() const {
    return kernelName(lastKernel_.name, lastKernel_.id);
}

std::vector<Finding> HostTimes::rest() const {
    std::vector<Finding> found;
    for (const auto& [thread, timing] : timings_) {
        found.insert(found.end(), timing.wrong.begin(), timing.wrong.end());
    }
    return found;
}

void HostTimes::eventRecorded(uint64_t event) {
    const uintptr_t place = hostPlace();
    const std::lock_guard<std::mutex> lock(mutex_);
    recorded_[event] = place;
}

void HostTimes::elapsedTimeRead(uint64_t start, uint64_t end) {
    for (const uint64_t event : {end, start}) {
        if (order_.hasWaitedFor(event)) continue;
        const uintptr_t place = hostPlace();
        uintptr_t recorded = 0;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            recorded = recorded_[event];
        }
        add_({Hazard::EarlyTime,
              "",
              {actOfHost(recorded, "records the event"), actOfHost(place, "asks for its time")},
              ""},
             place);
        return;
    }
}

// A kernel has begun since the last reading, and the host has waited for nothing: somebody may take
// this for its time. Not where the next thing is a wait, and then a reading: the program measures
// how long the launch takes, or the wait.
void HostTimes::clockRead(uintptr_t pc) {
    if (inStreamOrder || !isUserCode(pc) || sourceLine(pc).line == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    Timing& timing = timings_[std::this_thread::get_id()];
    if (std::exchange(timing.hasWaited, false)) {
        timing.wrong.clear();
        timing.pc = 0;
    }
    const uintptr_t first = std::exchange(timing.pc, pc);
    const uint64_t kernel = std::exchange(timing.kernel, lastKernel_.work);
    if (first == 0 || kernel == lastKernel_.work || order_.hasEnded(lastKernel_.work)) return;
    timing.wrong.push_back({Hazard::EarlyClock,
                            "",
                            {actOfHost(first, "reads the clock"), actOfHost(pc, "reads it again")},
                            "kernel " + lastKernel()});
}

// The program has gone on to something else.
void HostTimes::somethingElse() {
    std::vector<Finding> wrong;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto timing = timings_.find(std::this_thread::get_id());
        if (timing == timings_.end()) return;
        wrong.swap(timing->second.wrong);
    }
    for (const Finding& finding : wrong) add_(finding, finding.acts[1].place.pc);
}

}  // namespace emu
