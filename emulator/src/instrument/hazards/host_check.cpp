#include "host_check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "access_text.h"
#include "allocation_text.h"
#include "engine/allocations.h"
#include "engine/number_text.h"
#include "engine/program_symbols.h"
#include "engine/symbolizer.h"
#include "instrument/record/device_variables.h"
#include "instrument/record/program_code.h"
#include "variable_text.h"
#include "word_rules.h"

namespace emu {
namespace {

// What a hook has announced, and the instruction behind it will do.
thread_local uintptr_t announced;
thread_local uintptr_t announcedSize;

// Of an access that may lie beside it, be of unknown size, or be that of a function such as
// memcpy(), whose elements are not known.
std::string nameOfTouched(const GuardedAllocation& allocation, uintptr_t address, uint32_t size) {
    constexpr uint32_t kLargestElement = 16;
    const bool inside = allocation.holds(address) && size != 0 && size <= kLargestElement;
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
    for (const auto& [printer, work] : printed_) {
        const auto& [kernel, place] = printer;
        if (order_.hasEnded(work)) continue;
        findings_.add({Hazard::NeverPrinted, "", {actOfHost(place, "launches it")}, kernel});
    }
    for (const Finding& finding : times.rest()) findings_.add(finding);
    for (const Finding& finding : allocations.leaks()) findings_.add(finding);
    for (const auto& [thread, findings] : unread_) {
        for (const Finding& finding : findings) findings_.add(finding);
    }
    for (const auto& [key, finding] : again_) {
        if (finding.times > 0) findings_.add(finding);
    }
}

// (The program may crash at once.)
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
    if (unwritten.meet(access.address, access.size)) usesUnwritten(access);
    if (copied.meet(access.address, access.size)) touchesCopied(access);
    if (isConstantVariable(access.address) || deviceVariableAt(access.address)) {
        touchesVariable(access);
        return;
    }
    const char* const unallocated = isManagedVariable(access.address) ? "a __managed__ variable"
                                    : registered.meet(access.address, access.size)
                                        ? "registered memory"
                                        : nullptr;
    if (unallocated != nullptr) {
        addresses_.hostUses(access);
        if (!access.isVolatile) touchesSharedMemory(access, unallocated);
        return;
    }
    const auto allocation = guardedAround(reinterpret_cast<const void*>(access.address));
    if (!allocation) return;
    announced = access.address;
    announcedSize = access.size;
    allocations.used(access.address);
    if (allocation->reach == Reach::DeviceOnly) {
        touchesDeviceMemory(*allocation, access.address, access.size,
                            access.kind != AccessKind::Load, access.pc);
        return;
    }
    addresses_.hostUses(access);
    if (!access.isVolatile && !order_.allHaveEnded()) {
        touchesSharedMemory(access, nameOfTouched(*allocation, access.address, access.size));
    }
    if (allocation->written != nullptr && allocation->holds(access.address)) {
        usesManaged(*allocation, access);
    }
}

bool HostCheck::fault(uintptr_t address, uintptr_t pc, bool writes) {
    if (!maybeGuarded(address)) return false;
    const void* memory = reinterpret_cast<const void*>(address);
    const auto allocation = guardedAround(memory);
    if (!allocation || allocation->reach != Reach::DeviceOnly) return false;
    constexpr uintptr_t kWidest = 64;  // a struct's hook names its first byte
    if (address - std::exchange(announced, 0) >= std::max(kWidest, announcedSize)) {
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

// A __device__ or __constant__ variable, of which the host has a copy of its own on a GPU.
void HostCheck::touchesVariable(const Access& access) {
    const uintptr_t place = hostPlace(access.pc);
    add({Hazard::SymbolTouch,
         "",
         {actOfHost(place, verb(access.kind))},
         "variable " + nameOfVariable(access.address, access.size)},
        place);
}

void HostCheck::pointerStored(void** where) {
    Access access{};
    access.address = reinterpret_cast<uintptr_t>(where);
    access.size = sizeof(void*);
    access.kind = AccessKind::Store;
    if (isConstantVariable(access.address) || deviceVariableAt(access.address)) {
        touchesVariable(access);
    }
}

// Managed or page-locked memory.
void HostCheck::touchesSharedMemory(const Access& access, const std::string& name) {
    if (inStreamOrder || order_.allHaveEnded()) return;
    const uintptr_t end = access.address + access.size;
    uintptr_t endOfPage = 0;
    for (uintptr_t word = access.address / kWordBytes * kWordBytes; word < end;
         word += kWordBytes) {
        if (word >= endOfPage) {  // what memcpy() touches may be large
            endOfPage = (word / PastPage::kBytes + 1) * PastPage::kBytes;
            const size_t count = std::min(end, endOfPage) - word;
            if (!shadow_.mayBeInUse(word, count, access.kind == AccessKind::Load)) {
                word = endOfPage - kWordBytes;
                continue;
            }
        }
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

void HostCheck::copyReturns(const BytesSeen& written) {
    const uintptr_t place = hostPlace();
    const std::lock_guard<std::mutex> lock(mutex_);
    returned_.push_back({written, place});
    copied.begin = std::min<uintptr_t>(copied.begin, written.first);
    copied.end = std::max<uintptr_t>(copied.end, endOf(written));
}

void HostCheck::waited() {
    times.waited();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (returned_.empty()) return;
    returned_.clear();
    copied.begin = UINTPTR_MAX;
    copied.end = 0;
}

// (What the host writes there may have become another variable.)
void HostCheck::touchesCopied(const Access& access) {
    std::optional<uintptr_t> copy;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto touched = std::find_if(
            returned_.begin(), returned_.end(),
            [&](const ReturnedCopy& returned) { return holds(returned.written, access.address); });
        if (touched == returned_.end()) return;
        copy = touched->place;
        returned_.erase(touched);
    }
    if (access.kind != AccessKind::Load) return;
    const uintptr_t place = hostPlace(access.pc);
    add({Hazard::EarlyCopy,
         "",
         {{{*copy, nullptr, 0}, {}, verb(AccessKind::Store), "the copy"},
          actOfHost(place, verb(access.kind))},
         ""},
        place);
}

void HostCheck::memoryRegistered(const void* base, size_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(base);
    const std::lock_guard<std::mutex> lock(mutex_);
    registered.begin = std::min<uintptr_t>(registered.begin, begin);
    registered.end = std::max<uintptr_t>(registered.end, begin + bytes);
}

void HostCheck::freeRefused(const void* pointer) {
    WrongFree wrong = allocations.wrongFree(pointer);
    const std::lock_guard<std::mutex> lock(mutex_);
    wrongFrees_[std::this_thread::get_id()] = std::move(wrong);
}

void HostCheck::transferRuns(const BytesSeen* read, const BytesSeen& written) {
    times.somethingElse();
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
    if (read != nullptr) allocations.used(read->first);
    allocations.used(written.first);
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
                 allocation                          ? nameOf(*allocation)
                 : registered.meet(word, kWordBytes) ? "registered memory"
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

void HostCheck::copiedToHost(const void* to, const void* from, size_t bytes,
                             const std::vector<uint8_t>& unwritten) {
    unwritten_.copied(to, from, bytes, unwritten, unwritten.empty() ? 0 : hostPlace());
    this->unwritten.begin = unwritten_.begin();
    this->unwritten.end = unwritten_.end();
}

void HostCheck::hostCopies(uintptr_t to, uintptr_t from, size_t bytes) {
    unwritten_.hostCopies(to, from, bytes);
    unwritten.begin = unwritten_.begin();
    unwritten.end = unwritten_.end();
}

// The host uses what a copy has brought.
void HostCheck::usesUnwritten(const Access& access) {
    if (access.kind != AccessKind::Load) {
        unwritten_.hostWrites(access.address, access.size);
        return;
    }
    // A struct comes in parts, of which the first tells its size; there may be gaps between its
    // members, which nobody writes.
    const auto bytesHere = unwritten_.allUnwritten(access.address, access.whole);
    if (access.whole == 0 || !bytesHere) return;
    const auto allocation = guardedAround(reinterpret_cast<const void*>(bytesHere->from));
    const uintptr_t place = hostPlace(access.pc);
    add({Hazard::UninitialisedDevice,
         "",
         {actOfHost(bytesHere->place,
                    "copies " + bytes(bytesHere->count) + " of it that nothing has written"),
          actOfHost(place, "uses them")},
         allocation ? nameOf(*allocation, bytesHere->from, access.size) : ""},
        place);
}

// Marks what the host writes, and reports a read of what neither it nor a kernel has written.
void HostCheck::usesManaged(const GuardedAllocation& allocation, const Access& access) {
    const auto first = access.address - reinterpret_cast<uintptr_t>(allocation.base);
    if (access.kind != AccessKind::Load) {
        allocation.markWritten(first, std::min<size_t>(access.size, allocation.size - first));
        return;
    }
    if (access.whole == 0) return;
    const auto unwritten =
        unwrittenBits(reinterpret_cast<const void*>(access.address), access.whole);
    if (countOnes(unwritten) < access.whole) return;
    const uintptr_t place = hostPlace(access.pc);
    add({Hazard::UninitialisedDevice,
         "",
         {actOfHost(place, verb(access.kind))},
         nameOf(allocation, access.address, access.size)},
        place);
}

// ---- what the host does not wait for

// (One that fails has an error to show.)
void HostCheck::kernelPrinted(uint64_t work, const Grid& grid) {
    if (grid.cancelled) return;
    const uintptr_t place = hostPlace();
    const std::string kernel = "kernel " + kernelName(grid.call.name, grid.call.id);
    const std::lock_guard<std::mutex> lock(mutex_);
    printed_[{kernel, place}] = work;
}

void HostCheck::dies(const std::string& why, uintptr_t pc) {
    const uintptr_t place = hostPlace(pc);
    Finding finding{Hazard::Death, why, {actOfHost(place, "was here")}, ""};
    if (inDevice()) {
        finding.kernel = times.lastKernel();
        finding.block = {blockIdx.x, blockIdx.y, blockIdx.z};
        finding.acts = {{{place, nullptr, 0}, threadIdx, "was here"}};
    }
    add(std::move(finding), place);
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
