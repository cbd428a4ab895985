#include "block_findings.h"

#include <algorithm>
#include <utility>

#include "engine/program_symbols.h"

namespace emu {

uint64_t linearBlock() {
    return blockIdx.x + uint64_t{gridDim.x} * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
}

uint3 threadIndexOf(unsigned rank, const dim3& block) {
    return {rank % block.x, rank / block.x % block.y, rank / block.x / block.y};
}

Act actOf(uintptr_t pc, unsigned rank, const std::string& what, const dim3& block) {
    Place place;
    place.pc = pc;
    return {place, threadIndexOf(rank, block), what};
}

void BlockFindings::beginBlock(const Grid& grid, uint64_t launch) {
    grid_ = &grid;
    launch_ = launch;
}

bool BlockFindings::again(Hazard hazard, uintptr_t first, uintptr_t second, bool withinWarp) {
    const auto known = found_.find({hazard, first, second});
    if (known == found_.end()) return false;
    ++known->second.times;
    known->second.withinWarps &= withinWarp;
    return true;
}

void BlockFindings::report(Finding finding) {
    uintptr_t places[2] = {};
    for (size_t i = 0; i < std::min<size_t>(finding.acts.size(), 2); ++i) {
        const Place& place = finding.acts[i].place;
        places[i] = place.pc != 0 ? place.pc
                                  : reinterpret_cast<uintptr_t>(place.file) +
                                        static_cast<uintptr_t>(place.line);
    }
    if (again(finding.hazard, places[0], places[1], finding.withinWarps)) return;
    finding.kernel = kernelName(grid_->call.name, grid_->call.id);
    finding.block = {blockIdx.x, blockIdx.y, blockIdx.z};
    finding.blockNumber = linearBlock();
    finding.order = launch_;
    found_[{finding.hazard, places[0], places[1]}] = std::move(finding);
}

void BlockFindings::handOver(Findings& findings) {
    for (auto& [key, finding] : found_) {
        if (finding.hazard == Hazard::Barrier) finding.times = 1;  // counts blocks
        findings.add(finding);
    }
    found_.clear();
}

}  // namespace emu
