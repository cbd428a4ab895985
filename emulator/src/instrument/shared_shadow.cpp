#include "shared_shadow.h"

#include <algorithm>
#include <cstring>

#include "word_rules.h"

namespace emu {
namespace {

bool harmless(const SharedAccess& a, const SharedAccess& b) {
    const bool sameWarp = a.rank / kWarpSize == b.rank / kWarpSize;
    return harmlessTogether(a.kind, a.isVolatile, b.kind, b.isVolatile, sameWarp);
}

bool readBesideAtomic(const SharedAccess& a, const SharedAccess& b) {
    return (a.kind == AccessKind::Load && b.kind == AccessKind::Atomic) ||
           (a.kind == AccessKind::Atomic && b.kind == AccessKind::Load);
}

Race inProgramOrder(const SharedAccess& a, const SharedAccess& b) {
    const bool swap = a.step != b.step ? b.step < a.step : b.pc < a.pc;
    return swap ? Race{b, a} : Race{a, b};
}

// An access of several words counts once.
void add(std::vector<Race>& races, const Race& race) {
    const bool known = std::any_of(races.begin(), races.end(), [&](const Race& other) {
        return other.first.rank == race.first.rank && other.second.rank == race.second.rank &&
               other.first.pc == race.first.pc && other.second.pc == race.second.pc;
    });
    if (!known) races.push_back(race);
}

}  // namespace

SharedShadow::SharedShadow(const unsigned char* memory, size_t size, const WarpClocks& clocks)
    : memory_(memory), words_((size + kWordBytes - 1) / kWordBytes), clocks_(clocks) {}

void SharedShadow::beginBlock() {
    ++block_;
    ++epoch_;
    accesses_.clear();
    pending_.clear();
    reads_.clear();
}

void SharedShadow::barrier(std::vector<Race>& races) {
    for (const PendingRead& read : reads_) add(races, read.race);
    reads_.clear();
    ++epoch_;
    accesses_.clear();
}

void SharedShadow::touch(SharedAccess access, std::vector<Race>& races) {
    access.clock = clocks_.clockOf(access.rank);
    const size_t end = access.offset + access.size;
    for (size_t word = access.offset / kWordBytes; word * kWordBytes < end; ++word) {
        access.bytes = static_cast<uint8_t>(bytesOfWord(word * kWordBytes, access.offset, end));
        touchWord(word, access, races);
    }
}

void SharedShadow::touchWord(size_t index, const SharedAccess& access, std::vector<Race>& races) {
    Word& word = words_[index];
    if (word.block != block_) {
        word.block = block_;
        word.written = 0;
    }
    if (word.epoch != epoch_) {
        word.epoch = epoch_;
        word.accesses = -1;
    }
    if (access.kind == AccessKind::Atomic) forgetReads(index, access);
    std::vector<SharedAccess> writers;
    for (int32_t i = word.accesses; i >= 0; i = accesses_[static_cast<size_t>(i)].next) {
        const SharedAccess& other = accesses_[static_cast<size_t>(i)].access;
        if (other.rank == access.rank || (other.bytes & access.bytes) == 0) continue;
        if (harmless(other, access) || clocks_.ordered(other.rank, other.clock, access.rank))
            continue;
        if (other.kind == AccessKind::Store && access.kind == AccessKind::Store) {
            writers.push_back(other);
        } else if (readBesideAtomic(other, access)) {
            const unsigned reader = other.kind == AccessKind::Load ? other.rank : access.rank;
            reads_.push_back({index, reader, inProgramOrder(other, access)});
        } else {
            add(races, inProgramOrder(other, access));
        }
    }
    const int32_t entry = keep(word, access);
    if (access.writes()) {
        word.written |= access.bytes;
        pending_.push_back({index, entry, std::move(writers)});
    }
}

// What the thread has read here, it reads for its own atomic.
void SharedShadow::forgetReads(size_t word, const SharedAccess& access) {
    const auto isOwn = [&](const PendingRead& read) {
        return read.word == word && read.rank == access.rank;
    };
    reads_.erase(std::remove_if(reads_.begin(), reads_.end(), isOwn), reads_.end());
    for (int32_t i = words_[word].accesses; i >= 0; i = accesses_[static_cast<size_t>(i)].next) {
        SharedAccess& known = accesses_[static_cast<size_t>(i)].access;
        if (known.rank == access.rank && known.kind == AccessKind::Load) known.bytes = 0;
    }
}

// Returns the access' place in accesses_, or -1 if it need not be kept.
int32_t SharedShadow::keep(Word& word, const SharedAccess& access) {
    unsigned otherWarp = UINT32_MAX;
    for (int32_t i = word.accesses; i >= 0; i = accesses_[static_cast<size_t>(i)].next) {
        SharedAccess& known = accesses_[static_cast<size_t>(i)].access;
        if (known.pc != access.pc || known.kind != access.kind || known.bytes != access.bytes) {
            continue;
        }
        if (known.rank == access.rank) {
            known = access;
            return i;
        }
        const unsigned warp = known.rank / kWarpSize;
        if (!access.writes() && otherWarp != UINT32_MAX && warp != otherWarp) return -1;
        otherWarp = warp;
    }
    accesses_.push_back({access, word.accesses});
    return word.accesses = static_cast<int32_t>(accesses_.size()) - 1;
}

void SharedShadow::settle(std::vector<Race>& races) {
    for (PendingWrite& write : pending_) {
        SharedAccess& access = accesses_[static_cast<size_t>(write.entry)].access;
        access.value = valueOf(write.word);
        for (const SharedAccess& other : write.others) {
            if (!sameBytes(other.value, access.value, other.bytes & access.bytes))
                add(races, inProgramOrder(other, access));
        }
    }
    pending_.clear();
}

uint32_t SharedShadow::valueOf(size_t word) const {
    uint32_t value = 0;
    std::memcpy(&value, memory_ + word * kWordBytes, kWordBytes);
    return value;
}

bool SharedShadow::neverWritten(size_t offset, size_t size) const {
    for (size_t byte = offset; byte < offset + size; ++byte) {
        const Word& word = words_[byte / kWordBytes];
        if (word.block == block_ && (word.written >> byte % kWordBytes & 1)) return false;
    }
    return true;
}

}  // namespace emu
