#include "findings.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "access_text.h"
#include "engine/messages.h"
#include "engine/output_file.h"
#include "engine/symbolizer.h"

namespace emu {
namespace {

SourceLine lineOf(const Place& place) {
    if (place.pc != 0) return sourceLine(place.pc);
    return place.file != nullptr ? SourceLine{shownPath(place.file), place.line}
                                 : SourceLine{"(an unknown place)", 0};
}

std::string text(const SourceLine& line) {
    return line.line > 0 ? line.file + ":" + std::to_string(line.line) : line.file;
}

std::string plural(uint64_t count, const char* thing) {
    const std::string one = std::to_string(count) + " " + thing;
    if (count == 1) return one;
    return one + (one.back() == 'h' ? "es" : "s");  // launches
}

std::string title(const Finding& finding) {
    switch (finding.hazard) {
        case Hazard::Race:
        case Hazard::VolatileRace:
            return "race in shared memory";
        case Hazard::GlobalRace:
        case Hazard::GlobalVolatileRace:
            return "race in global memory";
        case Hazard::StreamRace:
            return "race between streams";
        case Hazard::ChildRace:
            return "race between parent and child";
        case Hazard::SharedBounds:
            return "shared memory out of bounds";
        case Hazard::Uninitialised:
            return "uninitialised shared memory";
        case Hazard::UninitialisedDevice:
            return "uninitialised device memory";
        case Hazard::DeviceBounds:
            return "device memory out of bounds";
        case Hazard::FreedMemory:
            return "device memory after cudaFree()";
        case Hazard::FreedHeap:
            return "device memory after free() or delete";
        case Hazard::HostMemory:
            return "host memory";
        case Hazard::Misaligned:
            return "misaligned address";
        case Hazard::Barrier:
            return "barrier in divergent code";
        case Hazard::Shuffle:
            return "note: shuffle from a lane that takes no part";
        case Hazard::Refused:
            return "error that nobody looked at";
        case Hazard::HostTouch:
            return "device memory used by the host";
        case Hazard::ManagedTouch:
            return "managed or page-locked memory used by the host before " + finding.acts[0].who +
                   " is known to have ended";
        case Hazard::NeverPrinted:
            return "a kernel prints, and the program ends without waiting for it";
        case Hazard::EarlyTime:
            return "time of an event that nothing has waited for";
        case Hazard::EarlyClock:
            return "note: the host's clock is read while the kernel may be running";
        case Hazard::EarlyCopy:
            return "note: an asynchronous copy is used, and nothing has waited for it";
        case Hazard::Leak:
            return "memory that is never freed";
        case Hazard::MaybeLeak:
            return "note: memory that is never freed";
        case Hazard::Death:
            return "the program died";
        case Hazard::Failure:
            break;
    }
    return "kernel failed";
}

bool acts(const Finding& finding, const char* what) {
    return std::any_of(finding.acts.begin(), finding.acts.end(),
                       [&](const Act& act) { return act.what == what; });
}

// What the accesses may have been meant for.
std::string purpose(const Finding& finding, bool sameLine) {
    if (acts(finding, verb(AccessKind::Atomic))) {
        return acts(finding, verb(AccessKind::Load))
                   ? "; where an old value does no harm, read it through a volatile pointer"
                   : "";
    }
    return sameLine && finding.about != "write after write"
               ? "; where several threads change the same element, use an atomic such as "
                 "atomicAdd()"
               : "";
}

// The first access is an asynchronous copy's.
bool beginsWithCopy(const Finding& finding) {
    const std::string& first = finding.acts[0].what;
    return first == kCopiesThere || first == kCopiesFromThere;
}

bool ofOneThread(const Finding& finding) {
    const uint3 &a = finding.acts[0].thread, &b = finding.acts[1].thread;
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Of threads of one block.
std::string barrierOrAtomics(const Finding& finding, bool sameLine) {
    if (ofOneThread(finding)) {
        return "the copy is sure to have been made only behind the thread's "
               "__pipeline_wait_prior()";
    }
    if (sameLine && finding.about == "write after write") {
        return "threads write different values to one place: let one of them write, or use atomics";
    }
    if (beginsWithCopy(finding)) {
        return "the copy is sure to have been made only behind a __pipeline_wait_prior() of the "
               "thread that began it, for other threads only behind a __syncthreads() after that";
    }
    const char* barrier =
        finding.withinWarps ? "__syncwarp() or __syncthreads()" : "__syncthreads()";
    std::string remedy = std::string("a ") + barrier + " is missing between ";
    remedy += sameLine ? "what the threads do on this line" : "these lines";
    if (acts(finding, verb(AccessKind::Atomic))) remedy += ", or both accesses have to be atomic";
    return remedy + purpose(finding, sameLine);
}

// Of threads of different blocks.
std::string launchOrAtomics(const Finding& finding, bool sameLine) {
    if (sameLine && finding.about == "write after write") {
        return "blocks write different values to one place: let one of them write, or use atomics";
    }
    return "nothing orders the blocks of a grid: use atomics, or a launch for each of the two "
           "steps" +
           purpose(finding, sameLine);
}

std::string remedyOfRace(const Finding& finding, bool sameLine) {
    const bool sameBlock = finding.acts[0].who.empty();
    std::string remedy =
        sameBlock ? barrierOrAtomics(finding, sameLine) : launchOrAtomics(finding, sameLine);
    if (finding.looked && !acts(finding, verb(AccessKind::Atomic))) {
        remedy +=
            "; a lock or flag orders them only with a __threadfence() where it is taken or seen, "
            "and one before it is given up or set";
    }
    return remedy;
}

std::string remedy(const Finding& finding, bool sameLine) {
    switch (finding.hazard) {
        case Hazard::Race:
        case Hazard::GlobalRace:
            return remedyOfRace(finding, sameLine);
        case Hazard::VolatileRace:
        case Hazard::GlobalVolatileRace:
            return "since Volta the lanes of a warp need not run in step: put __syncwarp() between "
                   "what one writes and another reads";
        case Hazard::StreamRace:
            return "nothing orders the two streams: let the one wait for an event of the other "
                   "(cudaStreamWaitEvent()), or the host for the first of them";
        case Hazard::ChildRace:
            return "a child is sure to see what its thread did before the launch, and its block "
                   "before a __syncthreads() before that; all else may run beside it: launch what "
                   "comes later with cudaStreamTailLaunch";
        case Hazard::SharedBounds:
            return "check the index, and the size in the third argument of <<<...>>> if the array "
                   "is extern";
        case Hazard::Uninitialised:
            return "no thread of the block has written it: on a GPU it holds garbage";
        case Hazard::UninitialisedDevice:
            return "neither a copy, cudaMemset() nor a kernel has written it: on a GPU it holds "
                   "garbage";
        case Hazard::Refused:
            if (finding.acts.size() > 1) {
                return "free each allocation once, with the pointer that it gave, by its own "
                       "function: cudaFree() after cudaMalloc(), cudaFreeHost() after "
                       "cudaMallocHost()";
            }
            return "check what the call returns; after a launch, what cudaGetLastError() returns";
        case Hazard::HostTouch:
            return "on a GPU the program crashes here: copy with cudaMemcpy() first";
        case Hazard::ManagedTouch:
            return "call cudaDeviceSynchronize(), or wait for its stream, between the two lines";
        case Hazard::DeviceBounds:
            return "check the index against the number of elements";
        case Hazard::FreedMemory:
            return "free it after the kernels that use it";
        case Hazard::FreedHeap:
            return "free it where no thread uses it any more, as behind a __syncthreads()";
        case Hazard::HostMemory:
            return "on a GPU this is an illegal address: pass memory from cudaMalloc()";
        case Hazard::Misaligned:
            return "a GPU ends the kernel with cudaErrorMisalignedAddress";
        case Hazard::Barrier:
            return "all threads of a block must reach the same barrier: move it out of the "
                   "condition or loop";
        case Hazard::Shuffle:
            return "what it gets is undefined: let the lane take part, or do not use the value";
        case Hazard::NeverPrinted:
            return "on a GPU the program ends first, and nothing is printed: call "
                   "cudaDeviceSynchronize() before it ends";
        case Hazard::EarlyTime:
            return "on a GPU the call returns cudaErrorNotReady and no time: call "
                   "cudaEventSynchronize() between the two lines";
        case Hazard::EarlyClock:
            return "this is the time of the launch alone: call cudaDeviceSynchronize() before the "
                   "second reading, unless that is what you measure";
        case Hazard::EarlyCopy:
            return "this works only as the host memory is pageable, so that the call returns when "
                   "the copy is done; with page-locked memory it is a race: call "
                   "cudaStreamSynchronize() between the two lines";
        case Hazard::Leak:
        case Hazard::MaybeLeak:
            return "the program uses none of them any more when the line has allocated two more: "
                   "free each behind its last use, or allocate once and use that again";
        case Hazard::Death:
        case Hazard::Failure:
            break;
    }
    return {};
}

// The value of a shuffle is right or wrong by what is done with it, and that is not known. Likewise
// whether the program wants the time of a launch, keeps its pointers or relies on pageable memory.
bool isNote(const Finding& finding) {
    switch (finding.hazard) {
        case Hazard::Shuffle:
        case Hazard::EarlyClock:
        case Hazard::EarlyCopy:
        case Hazard::MaybeLeak:
            return true;
        default:
            return false;
    }
}

// How often it was found, too.
std::string others(const Finding& finding) {
    const uint64_t more = finding.times - 1;
    if (more == 0) return {};
    switch (finding.hazard) {
        case Hazard::VolatileRace:
        case Hazard::GlobalVolatileRace:
            return "   and " + plural(more, "more time") + ", here or on other lines\n";
        case Hazard::Barrier:
            return "   and in " + plural(more, "more block") + "\n";
        default:
            return "   and " + plural(more, "more time") + "\n";
    }
}

// The lines of a message but the first, indented.
std::string indented(std::string text) {
    for (size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
        text.insert(i + 1, "   ");
    }
    return text;
}

std::string render(const Finding& finding) {
    std::string out = title(finding);
    if (!finding.about.empty()) out += ": " + indented(finding.about);
    const std::string place =
        finding.kernel.empty() ? std::string("host code")
                               : "kernel " + finding.kernel + ", block " + emu::text(finding.block);
    out += "\n   " + place;
    if (!finding.where.empty()) out += ", " + finding.where;
    out += "\n";
    std::set<std::string> lines;
    for (const Act& act : finding.acts) {
        const SourceLine line = lineOf(act.place);
        const std::string source = sourceText(line.file, line.line);
        lines.insert(text(line));
        const std::string who = act.who.empty() ? "thread " + emu::text(act.thread) : act.who;
        out += "     " + text(line) + ": " + who + " " + act.what + "\n";
        if (!source.empty()) out += "         " + source + "\n";
    }
    out += others(finding);
    const std::string advice = remedy(finding, lines.size() == 1);
    return advice.empty() ? out : out + "   " + advice + "\n";
}

}  // namespace

void Findings::addLaunch() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++launches_;
}

void Findings::addTransfer() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++transfers_;
}

void Findings::add(const Finding& finding) {
    std::string lines[2];
    const bool onceForKernel =
        finding.hazard == Hazard::VolatileRace || finding.hazard == Hazard::GlobalVolatileRace;
    const size_t acts = onceForKernel ? 0 : finding.acts.size();
    for (size_t i = 0; i < std::min<size_t>(acts, 2); ++i) {
        lines[i] = text(lineOf(finding.acts[i].place));
    }
    if (acts > 1) std::sort(lines, lines + 2);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [entry, isNew] =
        findings_.emplace(Key{finding.hazard, finding.kernel, lines[0], lines[1]}, finding);
    if (isNew) {
        write();  // the program may not come to its end
        return;
    }
    Finding& known = entry->second;
    const uint64_t times = known.times + finding.times;
    const bool withinWarps = known.withinWarps && finding.withinWarps;
    const auto place = [](const Finding& f) { return std::make_pair(f.order, f.blockNumber); };
    if (place(finding) < place(known)) known = finding;
    known.times = times;
    known.withinWarps = withinWarps;
}

std::string Findings::report() const {
    std::vector<const Finding*> sorted;
    for (const auto& [key, finding] : findings_) sorted.push_back(&finding);
    const auto place = [](const Finding* finding) {
        int lines[2] = {};
        for (size_t i = 0; i < std::min<size_t>(finding->acts.size(), 2); ++i) {
            lines[i] = lineOf(finding->acts[i].place).line;
        }
        return std::make_tuple(finding->order, finding->hazard, lines[0], lines[1]);
    };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Finding* a, const Finding* b) { return place(a) < place(b); });
    std::string out;
    size_t notes = 0, shuffles = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
        out += std::to_string(i + 1) + ". " + render(*sorted[i]) + "\n";
        notes += isNote(*sorted[i]) ? 1 : 0;
        shuffles += sorted[i]->hazard == Hazard::Shuffle ? 1 : 0;
    }
    return out + summary(sorted.size() - notes, shuffles);
}

// What was found, what was looked at, and what was not.
std::string Findings::summary(size_t hazards, size_t shuffles) const {
    if (launches_ == 0 && transfers_ == 0 && hazards == 0) {
        return "no kernel was launched: nothing was looked at\n";
    }
    std::string out =
        (hazards == 0 ? "no hazards" : plural(hazards, "hazard")) + " found in " +
        plural(launches_, "kernel launch") +
        (launches_ == 0 ? " and " + plural(transfers_, "memory operation") : "") +
        ". Looked at: races, bounds, uninitialised memory, barriers, errors, on the "
        "paths of this run. Not looked at: other inputs, structs that go by value out of memory "
        "(f(a[i])), local arrays, constants, libraries of the host in managed or page-locked "
        "memory, children of one kernel, waits of other host threads, cudaFreeAsync() in "
        "another stream, what volatile or a host function hands over";
    if (!notJudged_.empty()) {
        const auto& [first, second] = *notJudged_.begin();
        out += "; " + plural(notJudged_.size(), "pair") +
               " of lines that a fence may order, such as " + first + " and " + second;
    }
    if (!oldLooks_.empty()) {
        out += "; whether an old value does harm in " + plural(oldLooks_.size(), "line") +
               " that may read it before an atomic, such as " + *oldLooks_.begin();
    }
    if (!unwrittenCopies_.empty()) {
        out += "; whether the host uses bytes that nothing has written, which " +
               plural(unwrittenCopies_.size(), "line") + " copied to it, such as " +
               *unwrittenCopies_.begin();
    }
    if (shuffles > 0) out += "; whether the value of " + plural(shuffles, "shuffle") + " is used";
    if (incomplete_) out += "; races in a part of global memory, which is too large";
    return out + ".\n";
}

void Findings::addNotJudged(const Place& first, const Place& second) {
    const std::string lines[2] = {text(lineOf(first)), text(lineOf(second))};
    const std::lock_guard<std::mutex> lock(mutex_);
    notJudged_.emplace(lines[0], lines[1]);
}

void Findings::addOldLook(const Place& place) {
    const std::string line = text(lineOf(place));
    const std::lock_guard<std::mutex> lock(mutex_);
    oldLooks_.insert(line);
}

void Findings::addUnwrittenCopy(const Place& place) {
    const std::string line = text(lineOf(place));
    const std::lock_guard<std::mutex> lock(mutex_);
    unwrittenCopies_.insert(line);
}

void Findings::incomplete() {
    const std::lock_guard<std::mutex> lock(mutex_);
    incomplete_ = true;
}

Findings::~Findings() {
    write();
}

void Findings::write() const {
    writeOutput(path_, report(), "report", "CUDA_EMULATOR_CHECK");
}

}  // namespace emu
