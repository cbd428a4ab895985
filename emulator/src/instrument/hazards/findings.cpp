#include "findings.h"

#include <algorithm>
#include <utility>

#include "engine/output_file.h"
#include "report.h"

namespace emu {

void Findings::addLaunch() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++launches_;
}

void Findings::addTransfer(bool isCopy) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++(isCopy ? copies_ : fills_);
}

void Findings::withdraw(Hazard hazard) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto first = findings_.lower_bound(Key{hazard, "", "", ""});
    auto end = first;
    while (end != findings_.end() && std::get<Hazard>(end->first) == hazard) ++end;
    if (first == end) return;
    findings_.erase(first, end);
    write();
}

void Findings::add(const Finding& finding) {
    std::string lines[2];
    const bool onceForKernel =
        finding.hazard == Hazard::VolatileRace || finding.hazard == Hazard::GlobalVolatileRace;
    const size_t acts = onceForKernel ? 0 : finding.acts.size();
    for (size_t i = 0; i < std::min<size_t>(acts, 2); ++i) {
        lines[i] = textOf(finding.acts[i].place);
    }
    if (acts > 1) std::sort(lines, lines + 2);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [entry, isNew] =
        findings_.emplace(Key{finding.hazard, finding.kernel, lines[0], lines[1]}, finding);
    if (isNew) {
        entry->second.kinds = {finding.about};
        write();  // the program may not come to its end
        return;
    }
    Finding& known = entry->second;
    const uint64_t times = known.times + finding.times;
    const bool withinWarps = known.withinWarps && finding.withinWarps;
    std::set<std::string> kinds = known.kinds;
    kinds.insert(finding.about);
    const auto place = [](const Finding& f) { return std::make_pair(f.order, f.blockNumber); };
    if (place(finding) < place(known)) known = finding;
    known.times = times;
    known.withinWarps = withinWarps;
    known.kinds = std::move(kinds);
}

std::string Findings::report() const {
    Seen seen;
    seen.launches = launches_;
    seen.copies = copies_;
    seen.fills = fills_;
    for (const auto& [key, finding] : findings_) seen.findings.push_back(&finding);
    const auto place = [](const Finding* finding) {
        int lines[2] = {};
        for (size_t i = 0; i < std::min<size_t>(finding->acts.size(), 2); ++i) {
            lines[i] = lineNumber(finding->acts[i].place);
        }
        return std::make_tuple(finding->order, finding->hazard, lines[0], lines[1]);
    };
    std::stable_sort(seen.findings.begin(), seen.findings.end(),
                     [&](const Finding* a, const Finding* b) { return place(a) < place(b); });
    seen.remarks = remarks();
    const bool wantsJson = path_.size() > 5 && path_.compare(path_.size() - 5, 5, ".json") == 0;
    return wantsJson ? jsonOf(seen) : textOf(seen);
}

std::vector<std::string> Findings::remarks() const {
    std::vector<std::string> remarks;
    if (!notJudged_.empty()) {
        const auto& [first, second] = *notJudged_.begin();
        remarks.push_back(plural(notJudged_.size(), "pair") +
                          " of lines that a fence and a flag may order, such as " + first +
                          " and " + second);
    }
    if (!oldLooks_.empty()) {
        remarks.push_back("whether an old value does harm in " + plural(oldLooks_.size(), "line") +
                          " that may read it before an atomic, such as " + *oldLooks_.begin());
    }
    if (incomplete_) {
        remarks.push_back("races in a part of global memory, which is too large for the check");
    }
    return remarks;
}

void Findings::addNotJudged(const Place& first, const Place& second) {
    const std::string lines[2] = {textOf(first), textOf(second)};
    const std::lock_guard<std::mutex> lock(mutex_);
    notJudged_.emplace(lines[0], lines[1]);
}

void Findings::addOldLook(const Place& place) {
    const std::string line = textOf(place);
    const std::lock_guard<std::mutex> lock(mutex_);
    oldLooks_.insert(line);
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
