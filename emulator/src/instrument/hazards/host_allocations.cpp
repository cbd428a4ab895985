#include "host_allocations.h"

#include <optional>
#include <utility>

#include "engine/number_text.h"
#include "engine/symbolizer.h"

namespace emu {

void HostAllocations::allocated(const void* base, size_t bytes, const void* variable) {
    const uintptr_t place = hostPlace();
    const auto address = reinterpret_cast<uintptr_t>(base);
    const uint64_t work = order_.count();
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t time = ++allocations_;
    auto& [last, beforeLast] = lastAt_[place];
    const auto known = [&](uintptr_t other) {
        const auto entry = allocated_.find(other);
        const bool is =
            entry != allocated_.end() && other != address && entry->second.place == place;
        return is ? &entry->second : nullptr;
    };
    if (Allocated* const before = known(last)) before->overwritten = before->variable == variable;
    if (Allocated* const before = known(beforeLast)) {
        before->later = time;
        before->laterWork = work;
    }
    beforeLast = std::exchange(last, address);
    allocated_[address] = {bytes, place, 0, variable, time};
}

// Neither copies, kernels nor the host have used it since the same line has allocated twice again:
// with the next one a program may work on, as where each step reads what the last one wrote.
bool HostAllocations::isDead(uintptr_t base, const Allocated& allocated) const {
    if (allocated.freed != 0 || allocated.later == 0 || allocated.used >= allocated.later) {
        return false;
    }
    const std::optional<uint64_t> launch = shadow_.lastLaunchAt(base, allocated.bytes);
    return launch && *launch <= allocated.laterWork;
}

// Memory that is never freed does no harm at the program's end: many programs allocate once, or an
// array of buffers, and leave that to the system. A leak are those of a line that allocates again
// and again, each time for what is not used any more when it does so the next time. Ten of them are
// more than the buffers of a few streams. It is sure where each pointer replaces the one before.
std::vector<Finding> HostAllocations::leaks() const {
    struct Sum {
        uint64_t count = 0, bytes = 0, dead = 0, overwritten = 0;
    };
    std::map<uintptr_t, Sum> sums;  // by the place
    for (const auto& [base, allocated] : allocated_) {
        if (allocated.freed != 0) continue;
        Sum& sum = sums[allocated.place];
        ++sum.count;
        sum.bytes += allocated.bytes;
        if (!isDead(base, allocated)) continue;
        ++sum.dead;
        sum.overwritten += allocated.overwritten ? 1 : 0;
    }
    std::vector<Finding> found;
    constexpr uint64_t kMany = 10, kSome = 4, kLast = 2;  // with the last two
    for (const auto& [place, sum] : sums) {
        if (sum.dead + kLast < kMany && sum.overwritten + kLast < kSome) continue;
        const bool isSure = sum.overwritten + kLast >= kMany;
        const std::string about =
            number(sum.count) + " allocations of one line, " + bytes(sum.bytes) + " in all";
        found.push_back({isSure ? Hazard::Leak : Hazard::MaybeLeak,
                         about,
                         {actOfHost(place, "allocates them")},
                         ""});
    }
    return found;
}

// For hot paths where it was used just before.
void HostAllocations::used(uintptr_t address) {
    thread_local uintptr_t lastPage = 0;
    thread_local uint64_t lastTime = 0;
    const uint64_t time = allocations_;
    const uintptr_t page = address / PastPage::kBytes;
    if (page == lastPage && time == lastTime) return;
    lastPage = page;
    lastTime = time;
    const std::lock_guard<std::mutex> lock(mutex_);
    auto known = allocated_.upper_bound(address);
    if (known == allocated_.begin()) return;
    --known;
    if (address - known->first < known->second.bytes) known->second.used = time;
}

void HostAllocations::freed(const void* base) {
    const uintptr_t place = hostPlace();
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = allocated_.find(reinterpret_cast<uintptr_t>(base));
    if (known != allocated_.end()) known->second.freed = place;
}

WrongFree HostAllocations::wrongFree(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::lock_guard<std::mutex> lock(mutex_);
    auto known = allocated_.upper_bound(address);
    const bool isKnown =
        known != allocated_.begin() && address - (--known)->first < known->second.bytes;
    if (!isKnown) {
        return {{}, "memory that CUDA has not allocated"};
    }
    const auto& [base, allocated] = *known;
    const std::string inside = address == base ? "" : bytes(address - base) + " into ";
    return {{allocated.freed != 0 ? actOfHost(allocated.freed, "has freed it")
                                  : actOfHost(allocated.place, "allocates it")},
            inside + "an allocation of " + bytes(allocated.bytes)};
}

}  // namespace emu
