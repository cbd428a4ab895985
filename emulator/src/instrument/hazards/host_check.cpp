#include "host_check.h"

#include <algorithm>
#include <utility>

#include "access_text.h"
#include "allocation_text.h"
#include "engine/allocations.h"
#include "engine/symbolizer.h"
#include "instrument/record/program_code.h"
#include "word_rules.h"

namespace emu {
namespace {

// What a hook has announced, and the instruction behind it will do.
thread_local uintptr_t announced;

Act actOfHost(uintptr_t pc, const std::string& what) {
    return {{pc, nullptr, 0}, {}, what, "the host"};
}

// Of an access that may lie beside it, or be of unknown size.
std::string nameOfTouched(const GuardedAllocation& allocation, uintptr_t address, uint32_t size) {
    const bool inside = allocation.holds(address) && size != 0;
    return inside ? nameOf(allocation, address, size) : nameOf(allocation);
}

// Whether the host may not do this as long as that work runs.
bool conflicts(const PastRecord& record, unsigned bytes, AccessKind kind) {
    return (record.access.bytes & bytes) != 0 &&
           (kind != AccessKind::Load || record.access.accessKind() != AccessKind::Load);
}

// Empty for memory that is no matter of the device's: there a copy has been carried out when the
// call returns, or has read what it needs.
BytesSeen ofDevice(const BytesSeen& bytes) {
    return findAllocation(reinterpret_cast<const void*>(bytes.first)) ? bytes : BytesSeen{};
}

}  // namespace

thread_local bool inStreamOrder;

HostCheck::~HostCheck() {
    for (const auto& [thread, findings] : unread_) {
        for (const Finding& finding : findings) findings_.add(finding);
    }
    for (const auto& [key, finding] : again_) {
        if (finding.times > 0) findings_.add(finding);
    }
}

// The first time it is passed on at once, since the program may crash.
void HostCheck::add(Finding finding, uintptr_t pc) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [known, isNew] = again_.emplace(std::make_pair(finding.hazard, pc), finding);
    if (isNew) {
        finding.order = order_.count();
        findings_.add(finding);
        known->second = finding;
        known->second.times = 0;
    } else {
        ++known->second.times;
    }
}

// ---- memory

void HostCheck::hostAccess(const Access& access) {
    const char* const unallocated = isManagedVariable(access.address) ? "a __managed__ variable"
                                    : maybeRegistered(access.address) ? "registered memory"
                                                                      : nullptr;
    if (unallocated != nullptr) {
        if (!access.isVolatile) touchesSharedMemory(access, unallocated);
        return;
    }
    const auto allocation = guardedAround(reinterpret_cast<const void*>(access.address));
    if (!allocation) return;
    announced = access.address;
    if (allocation->reach == Reach::DeviceOnly) {
        touchesDeviceMemory(*allocation, access.address, access.size,
                            access.kind != AccessKind::Load, access.pc);
    } else if (!access.isVolatile && !order_.allHaveEnded()) {
        touchesSharedMemory(access, nameOfTouched(*allocation, access.address, access.size));
    }
}

bool HostCheck::fault(uintptr_t address, uintptr_t pc, bool writes) {
    if (!maybeGuarded(address)) return false;
    const void* memory = reinterpret_cast<const void*>(address);
    const auto allocation = guardedAround(memory);
    if (!allocation || allocation->reach != Reach::DeviceOnly) return false;
    constexpr uintptr_t kWidest = 64;  // a struct's hook names its first byte
    if (address - std::exchange(announced, 0) >= kWidest) {
        touchesDeviceMemory(*allocation, address, 0, writes, pc + 1);
    }
    openGuarded(memory);
    return true;
}

void HostCheck::touchesDeviceMemory(const GuardedAllocation& allocation, uintptr_t address,
                                    uint32_t size, bool writes, uintptr_t pc) {
    const uintptr_t place = hostPlace(pc);
    add({Hazard::HostTouch,
         "",
         {actOfHost(place, verb(writes ? AccessKind::Store : AccessKind::Load))},
         nameOfTouched(allocation, address, size)},
        place);
}

// Managed or page-locked memory.
void HostCheck::touchesSharedMemory(const Access& access, const std::string& name) {
    if (inStreamOrder || order_.allHaveEnded()) return;
    const uintptr_t end = access.address + access.size;
    for (uintptr_t word = access.address / kWordBytes * kWordBytes; word < end;
         word += kWordBytes) {
        const unsigned mask = bytesOfWord(word, access.address, end);
        for (const PastRecord& record : shadow_.recordsAt(word)) {
            if (!conflicts(record, mask, access.kind) || order_.hasEnded(record.work)) continue;
            const uintptr_t place = hostPlace(access.pc);
            add({Hazard::ManagedTouch,
                 "",
                 {{{pcOf(record.access.place), nullptr, 0},
                   {},
                   verb(record.access.accessKind()),
                   std::string("the ") + nounFor(record.doer)},
                  actOfHost(place, verb(access.kind))},
                 name},
                place);
            return;
        }
    }
}

void HostCheck::memoryAllocated(const void* base, size_t bytes) {
    const uintptr_t place = hostPlace();
    const std::lock_guard<std::mutex> lock(mutex_);
    allocated_[reinterpret_cast<uintptr_t>(base)] = {bytes, place, 0};
}

void HostCheck::memoryRegistered(const void* base, size_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(base);
    const std::lock_guard<std::mutex> lock(mutex_);
    registeredBegin = std::min<uintptr_t>(registeredBegin, begin);
    registeredEnd = std::max<uintptr_t>(registeredEnd, begin + bytes);
}

void HostCheck::memoryFreed(const void* base) {
    const uintptr_t place = hostPlace();
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = allocated_.find(reinterpret_cast<uintptr_t>(base));
    if (known != allocated_.end()) known->second.freed = place;
}

void HostCheck::freeRefused(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::lock_guard<std::mutex> lock(mutex_);
    WrongFree& wrong = wrongFrees_[std::this_thread::get_id()] = {};
    auto known = allocated_.upper_bound(address);
    const bool isKnown =
        known != allocated_.begin() && address - (--known)->first < known->second.bytes;
    if (!isKnown) {
        wrong.where = "memory that CUDA has not allocated";
        return;
    }
    const auto& [base, allocated] = *known;
    wrong.where = address == base ? "" : bytes(address - base) + " into ";
    wrong.where += "an allocation of " + bytes(allocated.bytes);
    wrong.acts.push_back(allocated.freed != 0 ? actOfHost(allocated.freed, "has freed it")
                                              : actOfHost(allocated.place, "allocates it"));
}

void HostCheck::transferRuns(const BytesSeen* read, const BytesSeen& written) {
    const uintptr_t place = hostPlace();
    const Work work = order_.begins();
    const TransferWork transfer{work.number, placeOf(place),
                                read != nullptr ? Doer::Copy : Doer::Fill,
                                read != nullptr ? ofDevice(*read) : BytesSeen{}, ofDevice(written)};
    if (!order_.allAreBefore(work)) {
        findStreamRace(transfer.read, AccessKind::Load, transfer, work);
        findStreamRace(transfer.written, AccessKind::Store, transfer, work);
    }
    shadow_.addTransfer(transfer, work);
}

// The first one.
void HostCheck::findStreamRace(const BytesSeen& bytes, AccessKind kind,
                               const TransferWork& transfer, const Work& work) {
    uintptr_t page = 0;
    bool mayMeet = false;
    forWords(bytes, [&](uintptr_t word, unsigned mask) {
        const uintptr_t around = word / PastPage::kBytes * PastPage::kBytes;
        if (around != page) mayMeet = shadow_.mayMeet(page = around, work);
        if (!mayMeet) return false;
        for (const PastRecord& record : shadow_.recordsAt(word)) {
            if (!conflicts(record, mask, kind) || order_.isBefore(record.work, work)) continue;
            const auto allocation = guardedAround(reinterpret_cast<const void*>(word));
            const uintptr_t place = pcOf(transfer.place);
            add({Hazard::StreamRace,
                 raceKind(record.access.accessKind(), kind),
                 {{{pcOf(record.access.place), nullptr, 0},
                   {},
                   verb(record.access.accessKind()),
                   std::string("another stream's ") + nounFor(record.doer)},
                  {{place, nullptr, 0},
                   {},
                   verb(kind),
                   std::string("the ") + nounFor(transfer.doer)}},
                 allocation              ? nameOf(*allocation)
                 : maybeRegistered(word) ? "registered memory"
                                         : "a __device__ variable"},
                place);
            return true;
        }
        return false;
    });
}

void HostCheck::unwrittenCopied(const void* memory, size_t size) {
    const auto allocation = guardedAround(memory);
    if (!allocation) return;
    const uintptr_t place = hostPlace();
    add({Hazard::UninitialisedDevice,
         "",
         {actOfHost(place, "copies " + bytes(size) + ", none of which was written")},
         nameOf(*allocation)},
        place);
}

void HostCheck::partlyUnwrittenCopied() {
    findings_.addUnwrittenCopy({hostPlace(), nullptr, 0});
}

// ---- errors

void HostCheck::refused(const std::string& what, const std::string& why) {
    const uintptr_t place = hostPlace();
    Finding finding{Hazard::Refused, what, {}, ""};
    finding.why = why;
    finding.order = order_.count();
    const std::lock_guard<std::mutex> lock(mutex_);
    const WrongFree wrong = std::exchange(wrongFrees_[std::this_thread::get_id()], {});
    if (what.rfind("cudaFree", 0) == 0) {
        finding.acts = wrong.acts;
        finding.where = wrong.where;
    }
    finding.acts.push_back(actOfHost(place, "goes on"));
    unread_[std::this_thread::get_id()].push_back(std::move(finding));
}

void HostCheck::errorRead() {
    const std::lock_guard<std::mutex> lock(mutex_);
    unread_.erase(std::this_thread::get_id());
}

}  // namespace emu
