#include "global_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "access_text.h"
#include "allocation_text.h"
#include "engine/messages.h"
#include "engine/poison.h"
#include "instrument/record/program_code.h"

namespace emu {
namespace {

bool areVolatile(const GlobalRace& race) {
    return race.first.isVolatile && race.second.isVolatile;
}

Hazard hazardOf(const GlobalRace& race) {
    if (race.isTexture) return Hazard::StaleTexture;
    switch (race.firstDoer) {
        case Doer::SameLaunch:
            return areVolatile(race) ? Hazard::GlobalVolatileRace : Hazard::GlobalRace;
        case Doer::Parent:
            return Hazard::ChildRace;
        default:
            return Hazard::StreamRace;
    }
}

// "allocation 2 (400 bytes), element 3 (of 4 bytes)"
std::string nameOfGlobal(uintptr_t address, size_t size) {
    const auto around = guardedAround(reinterpret_cast<const void*>(address));
    if (!around) return "a __device__ variable";
    return nameOf(*around, address, size);
}

}  // namespace

uint3 blockIndexOf(uint32_t number, const dim3& grid) {
    return {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
}

void GlobalCheck::beginBlock(uint64_t launch) {
    races_.beginBlock(launch << 32, linearBlock());
}

void GlobalCheck::access(const Access& access, uintptr_t pc, unsigned rank) {
    findUnwritten(access, pc, rank);
    races_.touch(access, pc, rank);
    if (!races_.races.empty()) report();
}

void GlobalCheck::settle() {
    races_.settle();
    if (!races_.races.empty()) report();
}

void GlobalCheck::copiesFrom(const Access& access, uintptr_t pc, unsigned rank) {
    copies_.insert(pc);
    this->access(access, pc, rank);
}

void GlobalCheck::handOver(Findings& findings) {
    for (const auto& [first, second] : races_.notJudged) {
        findings.addNotJudged({pcOf(first), nullptr, 0}, {pcOf(second), nullptr, 0});
    }
    races_.notJudged.clear();
}

Finding findingOf(const GlobalRace& race, const dim3& grid, const dim3& block) {
    const GlobalRecord &first = race.first, &second = race.second;
    const Hazard hazard = hazardOf(race);
    Finding finding{
        hazard,
        hazard == Hazard::GlobalVolatileRace ? "volatile does not order the lanes of a warp"
        : hazard == Hazard::StaleTexture     ? ""
        : first.accessKind() == AccessKind::Atomic && second.accessKind() == AccessKind::Atomic
            ? kNarrowScope
            : raceKind(first.accessKind(), second.accessKind()),
        {actOf(pcOf(first.place), first.rank, verb(first.accessKind()), block),
         actOf(pcOf(second.place), second.rank, verb(second.accessKind()), block)},
        nameOfGlobal(race.address, race.size)};
    finding.withinWarps = sameWarp(race.first, race.second);
    finding.looked = race.looked;
    if (race.firstDoer == Doer::Parent) {
        finding.acts[0].who = "the parent";
    } else if (race.firstDoer != Doer::SameLaunch) {
        finding.acts[0].who = std::string("another stream's ") + nounFor(race.firstDoer);
    } else if (first.block != second.block) {
        finding.acts[0].who = "a thread of block " + text(blockIndexOf(first.block, grid));
    }
    finding.block = blockIndexOf(second.block, grid);
    finding.blockNumber = second.block;
    return finding;
}

void GlobalCheck::report() {
    for (const GlobalRace& race : races_.races) {
        const bool known = found_.again(hazardOf(race), pcOf(race.first.place),
                                        pcOf(race.second.place), sameWarp(race.first, race.second));
        if (known) continue;
        Finding finding = findingOf(race, gridDim, blockDim);
        for (Act& act : finding.acts) {
            if (copies_.count(act.place.pc) > 0) act.what = kCopiesFromThere;
        }
        found_.report(std::move(finding));
    }
    races_.races.clear();
}

// Makes the allocation that holds `address` allocation_, if it is known which of its bytes were
// written.
bool GlobalCheck::find(uintptr_t address) {
    if (generation_ != guardedGeneration() || !allocation_.holds(address)) {
        if (!maybeGuarded(address)) return false;
        generation_ = guardedGeneration();
        const auto around = guardedAround(reinterpret_cast<const void*>(address));
        if (!around || !around->holds(address)) return false;
        allocation_ = *around;
    }
    return allocation_.written != nullptr;
}

// Marks what is written, and reports a read of what nobody has written.
void GlobalCheck::findUnwritten(const Access& access, uintptr_t pc, unsigned rank) {
    if (!find(access.address)) return;
    const size_t first = access.address - reinterpret_cast<uintptr_t>(allocation_.base);
    const auto countWritten = [&](size_t size) {
        size_t written = 0;
        for (size_t i = first; i < std::min(first + size, allocation_.size); ++i) {
            written += allocation_.written[i / 8] >> i % 8 & 1;
        }
        return written;
    };
    const size_t size = std::min<size_t>(access.size, allocation_.size - first);
    if (countWritten(size) == size) return;
    if (access.kind != AccessKind::Store && !access.exchanges) {
        // A struct comes in parts, of which the first tells its size; between its members may be
        // gaps that nobody writes.
        const bool isStruct = access.whole != access.size;
        if (isStruct && (access.whole == 0 || countWritten(access.whole) > 0)) return;
        if (isFresh(allocation_.base + first, first, size)) {  // nobody has written it unseen
            if (!found_.again(Hazard::UninitialisedDevice, pc, 0, false)) {
                found_.report({Hazard::UninitialisedDevice,
                               "",
                               {actOf(pc, rank, verb(access.kind))},
                               nameOfGlobal(access.address, access.size)});
            }
            return;
        }
    }
    allocation_.markWritten(first, size);
}

}  // namespace emu
