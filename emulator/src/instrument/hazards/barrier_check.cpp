#include "barrier_check.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "engine/symbolizer.h"

namespace emu {
namespace {

// The line of source has a `return`, as a word.
bool hasReturn(const std::string& line) {
    const std::string word = "return";
    const auto isPart = [&](size_t at) {
        return at < line.size() &&
               (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_');
    };
    for (size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
        if ((at == 0 || !isPart(at - 1)) && !isPart(at + word.size())) return true;
    }
    return false;
}

}  // namespace

void KernelPath::add(uintptr_t block) {
    highest = std::max(highest, recent.back());
    std::copy_backward(recent.begin(), recent.end() - 1, recent.end());
    recent[0] = block;
}

void KernelPath::returns() {
    returnBlock = recent[0];
    beforeReturn = std::max(highest, *std::max_element(recent.begin() + 1, recent.end()));
}

uintptr_t KernelPath::lastBlock() const {
    if (returnBlock != 0) return returnBlock;
    return recent[1] != 0 ? recent[1] : recent[0];
}

void BarrierCheck::beginBlock(const void* kernel) {
    if (kernel != kernel_) exits_.clear();
    kernel_ = kernel;
    sites_.clear();
    ended_.reset();
    waitingAt_ = -1;
}

bool BarrierCheck::reached(unsigned rank, const Barrier& barrier, TwoBarriers* clash) {
    auto found = std::find_if(sites_.begin(), sites_.end(), [&](const Site& known) {
        return known.barrier.call == barrier.call;
    });
    if (found == sites_.end()) found = sites_.insert(found, Site{barrier, rank, {}, {}});
    found->arrived.set(rank);
    const int index = static_cast<int>(found - sites_.begin());
    if (waitingAt_ < 0) {
        waitingAt_ = index;
        found->waiting = rank;
    }
    if (waitingAt_ == index) return false;
    const Site& other = sites_[static_cast<size_t>(waitingAt_)];
    *clash = {{other.barrier, barrier}, {other.waiting, rank}};
    return true;
}

void BarrierCheck::released() {
    if (waitingAt_ < 0) return;
    sites_[static_cast<size_t>(waitingAt_)].missing |= ended_;
    waitingAt_ = -1;
}

void BarrierCheck::threadEnded(unsigned rank, const KernelPath& path) {
    ended_.set(rank);
    paths_[rank] = path;
    exits_[path.recent[0]].emplace(path.recent[1], path.recent[2]);
}

size_t BarrierCheck::blocksOfReturn(const KernelPath& path) const {
    if (!path.hasReturn) return 0;
    const SourceLine line = sourceLine(path.recent[1]);
    if (hasReturn(sourceText(line.file, line.line))) return 2;
    const auto& ways = exits_.at(path.recent[0]);
    const auto& [before, from] = *ways.rbegin();
    if (ways.size() > 1) {
        const auto& [other, otherFrom] = *std::prev(ways.end(), 2);
        const bool behindDestructors =
            from == otherFrom && sourceLine(before).line == sourceLine(other).line;
        if (behindDestructors) return path.recent[1] == other ? 0 : 4;
    }
    return path.recent[1] == before ? 0 : 2;
}

bool BarrierCheck::passed(const KernelPath& path, const Site& site, unsigned rank) const {
    const auto isBehind = [&](uintptr_t block, uintptr_t highestBefore) {
        const uintptr_t place = site.barrier.inKernel;
        return block > place && highestBefore > place && !site.arrived[rank];
    };
    if (path.returnBlock != 0) return isBehind(path.returnBlock, path.beforeReturn);
    const size_t end = blocksOfReturn(path);
    if (end == 0) return true;
    const uintptr_t highest =
        std::max(path.highest, *std::max_element(path.recent.begin() + end, path.recent.end()));
    return isBehind(path.recent[end - 1], highest);
}

std::vector<BarrierCheck::PassedBy> BarrierCheck::passedBy() const {
    std::vector<PassedBy> found;
    for (const Site& site : sites_) {
        PassedBy result{site.barrier.site, site.waiting, 0, 0, 0};
        for (unsigned rank = 0; site.missing.any() && rank < kMaxThreadsPerBlock; ++rank) {
            if (!site.missing[rank]) continue;
            const KernelPath& path = paths_[rank];
            if (!passed(path, site, rank)) continue;
            if (result.count++ == 0) {
                result.ended = rank;
                result.from = path.lastBlock();
            }
        }
        if (result.count > 0) found.push_back(result);
    }
    return found;
}

}  // namespace emu
