#include "past_work.h"

#include <algorithm>
#include <initializer_list>

namespace emu {
namespace {

bool mayMeet(const BytesSeen& bytes, uintptr_t begin, size_t count) {
    return bytes.width > 0 && bytes.first < begin + count && begin < endOf(bytes);
}

// The bytes of the word.
unsigned meet(const BytesSeen& bytes, uintptr_t word) {
    unsigned found = 0;
    for (unsigned i = 0; i < kWordBytes; ++i) {
        if (holds(bytes, word + i)) found |= 1u << i;
    }
    return found;
}

bool same(const BytesSeen& a, const BytesSeen& b) {
    return a.first == b.first && a.width == b.width && a.height == b.height && a.depth == b.depth &&
           a.pitch == b.pitch && a.slice == b.slice;
}

// Calls `found(record)` for the two things that a transfer may have done to the word.
template <typename Found>
void forRecords(const TransferWork& transfer, uintptr_t word, Found found) {
    for (const auto& [bytes, kind] : {std::pair(&transfer.written, AccessKind::Store),
                                      std::pair(&transfer.read, AccessKind::Load)}) {
        if (!mayMeet(*bytes, word, kWordBytes)) continue;
        PastRecord record;
        record.work = static_cast<uint32_t>(transfer.work);
        record.doer = transfer.doer;
        record.access.place = transfer.place;
        record.access.bytes = meet(*bytes, word) & 15u;
        record.access.kind = static_cast<uint32_t>(kind);
        if (record.access.bytes != 0) found(record);
    }
}

// `slot` keeps the later one.
void keepLater(PastRecord& slot, const PastRecord& record) {
    if (record.work < slot.work) return;
    const unsigned before = record.work == slot.work ? slot.access.bytes : 0;
    slot = record;
    slot.access.bytes |= before & 15u;
}

}  // namespace

uintptr_t endOf(const BytesSeen& bytes) {
    return bytes.first + (bytes.depth - 1) * bytes.slice + (bytes.height - 1) * bytes.pitch +
           bytes.width;
}

bool holds(const BytesSeen& bytes, uintptr_t address) {
    size_t offset = address - bytes.first;
    for (const auto& [count, distance] :
         {std::pair(bytes.depth, bytes.slice), std::pair(bytes.height, bytes.pitch)}) {
        if (count > 1) offset -= std::min(offset / distance, count - 1) * distance;
    }
    return offset < bytes.width;
}

void PastWord::add(const PastRecord& record) {
    switch (record.access.accessKind()) {
        case AccessKind::Store:
            return keepLater(write, record);
        case AccessKind::Atomic:
            return keepLater(atomic, record);
        case AccessKind::Load:
            if (record.work > read[0].work) read[1] = read[0];
            return keepLater(record.work >= read[0].work ? read[0] : read[1], record);
    }
}

void PastPage::order(StreamOrder& order, const LaunchWork& work) {
    struct Known {
        uint32_t work = 0;
        bool ordered = true;
    };
    std::array<Known, 16> known;  // answers, which are the same for many
    const auto isBefore = [&](uint32_t number) {
        Known& entry = known[number % known.size()];
        if (entry.work != number) entry = {number, order.isBefore(number, work)};
        return entry.ordered;
    };
    anyUnordered = false;
    for (PastWord& word : words) {
        for (PastRecord* record : {&word.write, &word.atomic, &word.read[0], &word.read[1]}) {
            const auto parent =
                std::find_if(work.parents.begin(), work.parents.end(),
                             [&](const auto& entry) { return entry.first == record->work; });
            const bool isParents = parent != work.parents.end();
            record->ordered =
                isParents ? parent->second.isAfter(record->access) : isBefore(record->work);
            if (isParents) {
                record->doer = Doer::Parent;
            } else if (record->doer == Doer::Parent) {
                record->doer = Doer::Kernel;
            }
            anyUnordered |= !record->ordered;
        }
    }
}

void Transfers::add(const TransferWork& transfer, const Work& work) {
    constexpr size_t kFew = 64;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto forgetIf = [&](auto isOver) {
        transfers_.erase(std::remove_if(transfers_.begin(), transfers_.end(), isOver),
                         transfers_.end());
    };
    // Whoever waits for the new one has waited for the other.
    forgetIf([&](const TransferWork& other) {
        return same(other.read, transfer.read) && same(other.written, transfer.written) &&
               order_.isBefore(other.work, work);
    });
    if (transfers_.size() >= most_) {
        forgetIf([&](const TransferWork& other) { return order_.hasEnded(other.work); });
        most_ = std::max(kFew, 2 * transfers_.size());
    }
    transfers_.push_back(transfer);
}

void Transfers::forget(uintptr_t begin, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (TransferWork& transfer : transfers_) {
        for (BytesSeen* side : {&transfer.read, &transfer.written}) {
            if (mayMeet(*side, begin, bytes)) side->width = 0;
        }
    }
}

void Transfers::findAt(uintptr_t word, std::vector<PastRecord>* records) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const TransferWork& transfer : transfers_) {
        forRecords(transfer, word, [&](const PastRecord& record) { records->push_back(record); });
    }
}

bool Transfers::mayRun(uintptr_t begin, size_t bytes, bool writes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::any_of(transfers_.begin(), transfers_.end(), [&](const TransferWork& transfer) {
        return (mayMeet(transfer.written, begin, bytes) ||
                (!writes && mayMeet(transfer.read, begin, bytes))) &&
               !order_.hasEnded(transfer.work);
    });
}

bool Transfers::touch(uintptr_t page, const Work& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::any_of(transfers_.begin(), transfers_.end(), [&](const TransferWork& transfer) {
        return (mayMeet(transfer.read, page, PastPage::kBytes) ||
                mayMeet(transfer.written, page, PastPage::kBytes)) &&
               !order_.isBefore(transfer.work, work);
    });
}

void Transfers::addTo(PastPage& page, uintptr_t begin) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const TransferWork& transfer : transfers_) {
        if (!mayMeet(transfer.read, begin, PastPage::kBytes) &&
            !mayMeet(transfer.written, begin, PastPage::kBytes)) {
            continue;
        }
        for (size_t i = 0; i < page.words.size(); ++i) {
            forRecords(transfer, begin + i * kWordBytes,
                       [&](const PastRecord& record) { page.words[i].add(record); });
        }
    }
}

}  // namespace emu
