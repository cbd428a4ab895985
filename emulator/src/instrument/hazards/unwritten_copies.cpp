#include "unwritten_copies.h"

#include <algorithm>
#include <utility>

#include "engine/guarded_memory.h"
#include "engine/poison.h"

namespace emu {

void UnwrittenCopies::copied(const void* to, const void* from, size_t bytes,
                             const std::vector<uint8_t>& unwritten, uintptr_t place) {
    const auto address = reinterpret_cast<uintptr_t>(to);
    const std::lock_guard<std::mutex> lock(mutex_);
    splitAt(address);
    splitAt(address + bytes);
    forget(address, bytes);
    if (unwritten.empty()) return;
    const auto allocation = guardedAround(from);
    if (!allocation) return;
    const auto source = reinterpret_cast<uintptr_t>(from);
    const uintptr_t offset = source - reinterpret_cast<uintptr_t>(allocation->base);
    copies_[address] = {source, offset, place, countOnes(unwritten), bytes, unwritten};
    begin_ = std::min(begin_, address);
    end_ = std::max(end_, address + bytes);
}

void UnwrittenCopies::hostCopies(uintptr_t to, uintptr_t from, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::map<uintptr_t, Copied> moved;
    auto next = copies_.upper_bound(from);
    if (next != copies_.begin()) --next;
    for (; next != copies_.end() && next->first < from + bytes; ++next) {
        const auto& [begin, copy] = *next;
        const uintptr_t first = std::max(begin, from);
        const uintptr_t end = std::min(begin + copy.bytes, from + bytes);
        if (first < end) moved[first - from + to] = copy.part(first - begin, end - first);
    }
    splitAt(to);
    splitAt(to + bytes);
    forget(to, bytes);
    copies_.merge(moved);
    begin_ = std::min(begin_, to);
    end_ = std::max(end_, to + bytes);
}

void UnwrittenCopies::hostWrites(uintptr_t address, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    forget(address, bytes);
}

std::optional<UnwrittenCopies::Bytes> UnwrittenCopies::allUnwritten(uintptr_t address,
                                                                    size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto next = copies_.upper_bound(address);
    if (next == copies_.begin()) return std::nullopt;
    const auto& [begin, copy] = *--next;
    const size_t first = address - begin;
    if (first >= copy.bytes || bytes > copy.bytes - first) return std::nullopt;
    for (size_t i = first; i < first + bytes; ++i) {
        if ((copy.unwritten[i / 8] >> i % 8 & 1) == 0) return std::nullopt;
    }
    // A library may have written there since, or the memory is that of another variable by now.
    if (!isFresh(reinterpret_cast<const void*>(address), copy.offset + first, bytes)) {
        return std::nullopt;
    }
    return Bytes{copy.place, copy.from + first, copy.count};
}

// The part of it that begins so many bytes behind its start.
UnwrittenCopies::Copied UnwrittenCopies::Copied::part(size_t first, size_t count) const {
    Copied part{from + first, offset + first, place,
                this->count,  count,          std::vector<uint8_t>((count + 7) / 8)};
    for (size_t i = 0; i < count; ++i) {
        const unsigned bit = unwritten[(first + i) / 8] >> (first + i) % 8 & 1u;
        part.unwritten[i / 8] = static_cast<uint8_t>(part.unwritten[i / 8] | bit << i % 8);
    }
    return part;
}

// Makes two of what lies around `address`. Needs the lock.
void UnwrittenCopies::splitAt(uintptr_t address) {
    auto around = copies_.upper_bound(address);
    if (around == copies_.begin()) return;
    auto& [begin, copy] = *--around;
    const size_t first = address - begin;
    if (first == 0 || first >= copy.bytes) return;
    Copied rest = copy.part(first, copy.bytes - first);
    copy.bytes = first;
    copies_.emplace(address, std::move(rest));
}

// Needs the lock.
void UnwrittenCopies::forget(uintptr_t address, size_t bytes) {
    auto next = copies_.upper_bound(address);
    if (next != copies_.begin()) --next;
    while (next != copies_.end() && next->first < address + bytes) {
        auto& [begin, copy] = *next;
        const uintptr_t first = std::max(begin, address);
        const uintptr_t end = std::min(begin + copy.bytes, address + bytes);
        if (first == begin && end == begin + copy.bytes) {
            next = copies_.erase(next);
            continue;
        }
        for (uintptr_t byte = first; byte < end; ++byte) {
            const size_t i = byte - begin;
            copy.unwritten[i / 8] = static_cast<uint8_t>(copy.unwritten[i / 8] & ~(1u << i % 8));
        }
        ++next;
    }
}

}  // namespace emu
