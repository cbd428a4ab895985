#include "line_counts.h"

#include <algorithm>
#include <map>

#include "engine/allocations.h"
#include "engine/program_symbols.h"
#include "instrument/record/dynamic_arrays.h"
#include "instrument/record/memory_map.h"
#include "instrument/record/recorder.h"

namespace emu {
namespace {

constexpr size_t kMostAddresses = 64;   // of an access, that are kept one by one
constexpr size_t kMostStrides = 8;      // likewise; further ones count as irregular
constexpr size_t kMostClose = 1 << 18;  // accesses of lanes that are looked at closely
constexpr size_t kMostSteps = 400;      // of a sampled warp
constexpr unsigned kMostTimes = 8;      // that a sampled warp's accesses by one place are kept
constexpr unsigned kFirstWarps = 2;     // of a block, that are sampled; so is the last one
constexpr uintptr_t kNever = UINTPTR_MAX;

bool isOfMemory(EventKind kind) {
    return kind != EventKind::Barrier && kind != EventKind::Division;
}
bool isAtomic(EventKind kind) {
    return kind == EventKind::GlobalAtomic || kind == EventKind::SharedAtomic;
}
bool isShared(EventKind kind) {
    return kind == EventKind::SharedLoad || kind == EventKind::SharedStore ||
           kind == EventKind::SharedAtomic;
}

void addStride(LineAccess& access, int64_t stride, uint64_t requests) {
    auto& strides = access.strides;
    const auto is = [](int64_t wanted) {
        return [=](const auto& known) { return known.first == wanted; };
    };
    auto found = std::find_if(strides.begin(), strides.end(), is(stride));
    if (found == strides.end() && strides.size() >= kMostStrides) {
        stride = kIrregular;
        found = std::find_if(strides.begin(), strides.end(), is(stride));
    }
    if (found != strides.end()) {
        found->second += requests;
    } else {
        strides.emplace_back(stride, requests);
    }
}

// The distance of the addresses of neighbouring lanes, if it is the same for all that are active;
// there are two or more.
int64_t strideOf(const WarpAccess& access) {
    int64_t stride = 0;
    bool known = false;
    int before = -1;
    unsigned index = 0;
    for (uint32_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1, ++index) {
        const int lane = __builtin_ctz(lanes);
        if (before >= 0) {
            const auto distance =
                static_cast<int64_t>(access.address[index] - access.address[index - 1]);
            const int64_t apart = lane - before;
            if (distance % apart != 0 || (known && distance / apart != stride)) return kIrregular;
            stride = distance / apart;
            known = true;
        }
        before = lane;
    }
    return stride;
}

// How many lanes want the address that most want, and how many different addresses there are.
std::pair<unsigned, unsigned> alikeOf(const WarpAccess& access) {
    std::array<uintptr_t, 32> sorted;
    const auto end = std::copy_n(access.address, access.count(), sorted.begin());
    if (!std::is_sorted(sorted.begin(), end)) std::sort(sorted.begin(), end);
    unsigned most = 0, different = 0;
    for (auto first = sorted.begin(); first != end;) {
        const auto last = std::upper_bound(first, end, *first);
        most = std::max(most, static_cast<unsigned>(last - first));
        ++different;
        first = last;
    }
    return {most, different};
}

void addAddress(LineAccess& access, uintptr_t address) {
    auto& known = access.addresses;
    const auto place = std::lower_bound(known.begin(), known.end(), address);
    if (place != known.end() && *place == address) return;
    if (known.size() >= kMostAddresses) {
        access.hasMoreAddresses = true;
    } else {
        known.insert(place, address);
    }
}

// The last part of a name such as "fill(int*)::tile".
std::string unqualified(const std::string& name) {
    const size_t colon = name.rfind("::");
    return colon == std::string::npos ? name : name.substr(colon + 2);
}

LineMemory sharedMemoryAt(uintptr_t address) {
    const uintptr_t offset = address - memoryMap.sharedBegin();
    const auto known = threadLocalAt(offset);
    const ThreadLocal variable = known.value_or(ThreadLocal{"", 0, memoryMap.sharedSize()});
    std::string name = unqualified(demangled(variable.name));
    if (name == "emu_dynamic_shared") {
        const auto& arrays = dynamicArrays();
        name = arrays.size() == 1 ? arrays.front().name : "dynamic shared memory";
    }
    const auto shift =
        static_cast<unsigned>((memoryMap.sharedBegin() + variable.begin) % kWavefrontSize);
    return {name, true, variable.begin, variable.size, shift};
}

LineMemory globalMemoryAt(uintptr_t address) {
    const auto* pointer = reinterpret_cast<const void*>(address);
    if (const auto allocation = findAllocation(pointer)) {
        return {"", false, reinterpret_cast<uintptr_t>(allocation->base), allocation->size, 0};
    }
    if (const auto variable = variableAt(pointer)) {
        return {unqualified(demangled(variableSymbol(pointer))), false,
                reinterpret_cast<uintptr_t>(variable->base), variable->size, 0};
    }
    return {"", false, address / kWavefrontSize * kWavefrontSize, 0, 0};
}

}  // namespace

void LineAccess::add(const LineAccess& other) {
    requests += other.requests;
    lanes += other.lanes;
    bytes += other.bytes;
    units += other.units;
    least += other.least;
    conflicts += other.conflicts;
    wavefronts += other.wavefronts;
    alike += other.alike;
    for (const auto& [stride, times] : other.strides) addStride(*this, stride, times);
    for (const uintptr_t address : other.addresses) addAddress(*this, address);
    hasMoreAddresses = hasMoreAddresses || other.hasMoreAddresses;
    closeLanes += other.closeLanes;
    closeAddresses += other.closeAddresses;
    repeats += other.repeats;
}

void LineCounts::blockBegins(const std::array<uint32_t, 3>& block, unsigned warps, bool close) {
    close_ = close;
    warps_ = warps;
    sampled_.clear();
    times_.clear();
    closely_.clear();
    if (!close) return;
    for (unsigned warp = 0; warp < warps; ++warp) {
        if (warp >= kFirstWarps && warp + 1 < warps) continue;
        sampled_[warp] = samples_.size();
        samples_.push_back({block, warp, {}});
    }
}

void LineCounts::blockEnds() {
    for (size_t i = 0; i < closely_.size(); ++i) {
        accesses_[i].closeAddresses += closely_[i].addresses.size();
    }
    blockBegins({}, 0, false);
}

LineSample* LineCounts::sampleOf(unsigned warp) {
    if (!close_) return nullptr;
    const auto found = sampled_.find(warp);
    if (found == sampled_.end()) return nullptr;
    LineSample& sample = samples_[found->second];
    return sample.steps.size() < kMostSteps ? &sample : nullptr;
}

void LineCounts::basicBlock(unsigned warp, uint32_t lanes, uint32_t place) {
    if (LineSample* sample = sampleOf(warp)) sample->steps.push_back({lanes, place});
}

void LineCounts::count(uint32_t number, const Where& where, const WarpAccess& access,
                       const SharedCost& cost) {
    LineAccess& to = accesses_[number];
    const auto [alike, different] = alikeOf(access);
    ++to.requests;
    to.lanes += access.count();
    to.alike += alike;
    if (access.count() > 1) addStride(to, strideOf(access), 1);
    if (isAtomic(where.kind)) {
        for (unsigned i = 0; i < access.count(); ++i) addAddress(to, access.address[i]);
    }
    if (isShared(where.kind)) {
        to.bytes += cost.bytes;
        to.units += cost.wavefronts;
        to.least += cost.wavefronts - cost.conflicts;
        to.conflicts += cost.conflicts;
    } else if (where.kind == EventKind::ConstantLoad) {
        to.bytes += bytesOf(access);
        to.units += different;
        ++to.least;
    } else {
        const unsigned bytes = bytesOf(access);
        to.bytes += bytes;
        to.units += sectorsOf(access);
        to.least += (bytes + kSectorSize - 1) / kSectorSize;
    }
    if (!close_) return;
    lookClosely(number, where, access);
    sample(number, where, access);
}

void LineCounts::count(LineAccess& to, const WarpCopy& copy, const CopyCost& cost) {
    ++to.requests;
    to.lanes += copy.count();
    to.bytes += cost.bytes;
    to.units += cost.requested;
    to.least += (cost.bytes + kSectorSize - 1) / kSectorSize;
    to.conflicts += cost.conflicts;
    to.wavefronts += cost.wavefronts;
}

void LineCounts::lookClosely(uint32_t number, const Where& where, const WarpAccess& access) {
    LineAccess& to = accesses_[number];
    if (closely_.size() <= number) closely_.resize(accesses_.size());
    Close& close = closely_[number];
    if (to.closeLanes > kMostClose) return;
    const auto [last, isNew] = close.last.try_emplace(where.warp);
    if (isNew) last->second.fill(kNever);
    unsigned index = 0;
    for (uint32_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1, ++index) {
        uintptr_t& before = last->second[static_cast<unsigned>(__builtin_ctz(lanes))];
        const uintptr_t address = access.address[index];
        to.repeats += before == address;
        before = address;
        close.addresses.insert(address);
    }
    to.closeLanes += access.count();
}

void LineCounts::sample(uint32_t number, const Where& where, const WarpAccess& access) {
    LineSample* const sample = sampleOf(where.warp);
    if (sample == nullptr || !isOfMemory(where.kind)) return;
    if (times_[uint64_t{where.warp} << 32 | number]++ >= kMostTimes) return;
    LineStep step{access.lanes, where.place, number};
    step.memory = memoryAt(access.address[0], isShared(where.kind));
    const LineMemory& memory = memories_[step.memory];
    const uintptr_t base = memory.begin + (memory.shared ? memoryMap.sharedBegin() : 0);
    for (unsigned i = 0; i < access.count(); ++i) {
        step.offsets.push_back(static_cast<int64_t>(access.address[i] - base));
    }
    sample->steps.push_back(std::move(step));
}

uint32_t LineCounts::memoryAt(uintptr_t address, bool shared) {
    const uintptr_t place = shared ? address - memoryMap.sharedBegin() : address;
    for (size_t i = 0; i < memories_.size(); ++i) {
        const LineMemory& known = memories_[i];
        if (known.shared == shared && place - known.begin < known.size)
            return static_cast<uint32_t>(i);
    }
    memories_.push_back(shared ? sharedMemoryAt(address) : globalMemoryAt(address));
    return static_cast<uint32_t>(memories_.size() - 1);
}

void LineCounts::forgetCloseLook() {
    samples_.clear();
    for (LineAccess& access : accesses_)
        access.closeLanes = access.closeAddresses = access.repeats = 0;
}

void LineCounts::add(const LineCounts& other) {
    std::vector<uint32_t> numbers(other.accesses_.size());
    for (const auto& [key, number] : other.numbers_) {
        const auto [found, isNew] =
            numbers_.try_emplace(key, static_cast<uint32_t>(accesses_.size()));
        if (isNew) {
            accesses_.push_back(other.accesses_[number]);
        } else {
            accesses_[found->second].add(other.accesses_[number]);
        }
        numbers[number] = found->second;
    }
    std::vector<uint32_t> memories;
    for (const LineMemory& memory : other.memories_) {
        const auto known =
            std::find_if(memories_.begin(), memories_.end(), [&](const LineMemory& own) {
                return own.shared == memory.shared && own.begin == memory.begin;
            });
        memories.push_back(static_cast<uint32_t>(known - memories_.begin()));
        if (known == memories_.end()) memories_.push_back(memory);
    }
    for (LineSample sample : other.samples_) {
        for (LineStep& step : sample.steps) {
            if (step.access == LineStep::kNone) continue;
            step.access = numbers[step.access];
            step.memory = memories[step.memory];
        }
        samples_.push_back(std::move(sample));
    }
}

}  // namespace emu
