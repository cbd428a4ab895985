#include "shared_shadow.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "word_rules.h"

namespace emu {
namespace {

unsigned warpOf(const SharedAccess& access) {
    return access.rank / kWarpSize;
}

bool readBesideAtomic(const SharedAccess& a, const SharedAccess& b) {
    return (a.kind == AccessKind::Load && b.kind == AccessKind::Atomic) ||
           (a.kind == AccessKind::Atomic && b.kind == AccessKind::Load);
}

// Of one that is beside an atomic.
const SharedAccess& plainRead(const Race& race) {
    return race.first.kind == AccessKind::Load ? race.first : race.second;
}

Race inProgramOrder(const SharedAccess& a, const SharedAccess& b) {
    const bool swap = a.step != b.step ? b.step < a.step : b.pc < a.pc;
    return swap ? Race{b, a} : Race{a, b};
}

bool sameActs(const Race& a, const Race& b) {
    return a.first.rank == b.first.rank && a.second.rank == b.second.rank &&
           a.first.pc == b.first.pc && a.second.pc == b.second.pc;
}

// An access of several words counts once.
void add(std::vector<Race>& races, const Race& race) {
    const auto same = [&](const Race& other) { return sameActs(race, other); };
    if (std::none_of(races.begin(), races.end(), same)) races.push_back(race);
}

}  // namespace

// ---- the accesses of a line

SharedAccess* SharedShadow::Line::find(unsigned doer) {
    for (SharedAccess& known : accesses) {
        if (known.doer() == doer) return &known;
    }
    return nullptr;
}

void SharedShadow::Line::keep(const SharedAccess& access, bool all) {
    // (Of a thread's store the latest value counts.)
    if (ofTwoWarps && access.kind != AccessKind::Store && !all) return;
    if (SharedAccess* const known = find(access.doer())) {
        *known = access;
    } else if (!ofTwoWarps || all) {
        ofTwoWarps = !accesses.empty() && warpOf(accesses.front()) != warpOf(access);
        accesses.push_back(access);
    }
}

void SharedShadow::Line::forget(unsigned rank) {
    SharedAccess* const known = find(rank);
    if (known == nullptr) return;
    *known = accesses.back();
    accesses.pop_back();
    ofTwoWarps = std::any_of(accesses.begin(), accesses.end(), [&](const SharedAccess& access) {
        return warpOf(access) != warpOf(accesses.front());
    });
}

// ---- the memory of a block

SharedShadow::SharedShadow(const unsigned char* memory, size_t size, const WarpClocks& clocks,
                           const WarpFences& fences)
    : memory_(memory),
      words_((size + kWordBytes - 1) / kWordBytes),
      clocks_(clocks),
      fences_(fences) {}

void SharedShadow::beginBlock() {
    ++block_;
    ++epoch_;
    linesUsed_ = 0;
    pending_.clear();
    reads_.clear();
}

void SharedShadow::barrier(std::vector<Race>& races) {
    const size_t firstNew = races.size();
    for (const auto& [read, race] : reads_) {
        // (The words of one access come one after the other.)
        if (races.size() == firstNew || !sameActs(races.back(), race)) races.push_back(race);
    }
    reads_.clear();
    ++epoch_;
    linesUsed_ = 0;
}

void SharedShadow::touch(SharedAccess access, std::vector<Race>& races) {
    access.clock = clocks_.clockOf(access.doer());
    access.fences = fences_.count();
    access.looked = fences_.hasLooked(access.rank);
    const size_t end = access.offset + access.size;
    for (size_t word = access.offset / kWordBytes; word * kWordBytes < end; ++word) {
        access.bytes = static_cast<uint8_t>(bytesOfWord(word * kWordBytes, access.offset, end));
        touchWord(word, access, races);
    }
}

void SharedShadow::touchAsync(SharedAccess access, const unsigned char* bytes,
                              std::vector<Race>& races) {
    touch(access, races);
    settle(bytes, access.offset, races);
}

void SharedShadow::touchWord(size_t index, const SharedAccess& access, std::vector<Race>& races) {
    Word& word = words_[index];
    if (word.block != block_) {
        word.block = block_;
        word.written = 0;
        word.writerPc = 0;
    }
    if (word.epoch != epoch_) {
        word.epoch = epoch_;
        word.lines = -1;
    }
    if (access.kind == AccessKind::Atomic) forgetReads(index, access);
    std::vector<SharedAccess> stores;
    int32_t own = -1;
    for (int32_t i = word.lines; i >= 0; i = lines_[static_cast<size_t>(i)].next) {
        const Line& line = lines_[static_cast<size_t>(i)];
        if (line.isOf(access)) own = i;
        look(index, line, access, stores, races);
    }
    const size_t line = own >= 0 ? static_cast<size_t>(own) : newLine(word, access);
    lines_[line].keep(access, clocks_.ofWholeBlock());
    if (access.writes()) word.written |= access.bytes;
    if (access.writes() && !access.isAsync) {
        word.writer = access.rank;
        word.fences = proxyFences_[access.rank].count;
        word.writeEpoch = epoch_;
        word.writerPc = access.pc;
    }
    if (access.kind == AccessKind::Store) {
        pending_.push_back({index, line, access, std::move(stores)});
    }
}

// Looks for races of the access with those of a line. Of stores it adds those to `stores` that are
// one if the values differ.
void SharedShadow::look(size_t word, const Line& line, const SharedAccess& access,
                        std::vector<SharedAccess>& stores, std::vector<Race>& races) {
    if ((line.bytes & access.bytes) == 0) return;
    const auto harmless = [&](bool sameWarp) {
        return harmlessTogether(line.kind, line.isVolatile, access.kind, access.isVolatile,
                                sameWarp);
    };
    const bool harmlessInWarp = harmless(true), harmlessBetween = harmless(false);
    if (harmlessInWarp && harmlessBetween) return;
    for (const SharedAccess& other : line.accesses) {
        if (other.doer() == access.doer()) continue;
        if (warpOf(other) == warpOf(access) ? harmlessInWarp : harmlessBetween) continue;
        if (clocks_.ordered(other.doer(), other.clock, access.doer())) continue;
        const bool inStep = other.isVolatile && access.isVolatile;  // what no fence orders
        if (!inStep && fences_.mayOrder(other.rank, other.fences, access.rank)) {
            notJudged.emplace(other.pc, access.pc);
            continue;
        }
        if (other.kind == AccessKind::Store && access.kind == AccessKind::Store) {
            stores.push_back(other);
        } else if (readBesideAtomic(other, access)) {
            const unsigned reader = other.kind == AccessKind::Load ? other.rank : access.rank;
            const Race race = inProgramOrder(other, access);
            reads_.emplace(Read{reader, word, race.first.pc, race.second.pc}, race);
        } else {
            add(races, inProgramOrder(other, access));
        }
    }
}

size_t SharedShadow::newLine(Word& word, const SharedAccess& access) {
    if (linesUsed_ == lines_.size()) lines_.emplace_back();
    Line& line = lines_[linesUsed_];
    line.accesses.clear();
    line.ofTwoWarps = false;
    line.next = word.lines;
    line.pc = access.pc;
    line.bytes = access.bytes;
    line.kind = access.kind;
    line.isVolatile = access.isVolatile;
    word.lines = static_cast<int32_t>(linesUsed_);
    return linesUsed_++;
}

// What the thread has read here, it reads for its own atomic.
void SharedShadow::forgetReads(size_t word, const SharedAccess& atomic) {
    const unsigned rank = atomic.rank;
    const auto first = reads_.lower_bound(Read{rank, word, 0, 0});
    const auto end = reads_.lower_bound(Read{rank, word + 1, 0, 0});
    for (auto read = first; read != end && !atomic.compares; ++read) {
        oldLooks.insert(plainRead(read->second).pc);
    }
    reads_.erase(first, end);
    for (int32_t i = words_[word].lines; i >= 0; i = lines_[static_cast<size_t>(i)].next) {
        Line& line = lines_[static_cast<size_t>(i)];
        if (line.kind == AccessKind::Load) line.forget(rank);
    }
}

void SharedShadow::settle(std::vector<Race>& races) {
    settle(memory_, 0, races);
}

void SharedShadow::settle(const unsigned char* memory, size_t begin, std::vector<Race>& races) {
    for (PendingStore& store : pending_) {
        std::memcpy(&store.access.value, memory + (store.word * kWordBytes - begin), kWordBytes);
        if (SharedAccess* const kept = lines_[store.line].find(store.access.doer())) {
            kept->value = store.access.value;
        }
        for (const SharedAccess& other : store.others) {
            if (!sameBytes(other.value, store.access.value, other.bytes & store.access.bytes))
                add(races, inProgramOrder(other, store.access));
        }
    }
    pending_.clear();
}

void SharedShadow::proxyFence(unsigned rank) {
    ++proxyFences_[rank].count;
    proxyFences_[rank].epoch = epoch_;
}

std::optional<SharedShadow::Unfenced> SharedShadow::unfenced(size_t offset, size_t size,
                                                             unsigned reader) const {
    for (size_t index = offset / kWordBytes; index * kWordBytes < offset + size; ++index) {
        const Word& word = words_[index];
        if (word.block != block_ || word.writerPc == 0) continue;
        const bool byWriter = proxyFences_[word.writer].count != word.fences;
        const ProxyFences& own = proxyFences_[reader];
        if (byWriter || (own.count > 0 && own.epoch > word.writeEpoch)) continue;
        return Unfenced{index * kWordBytes, word.writerPc, word.writer};
    }
    return std::nullopt;
}

bool SharedShadow::neverWritten(size_t offset, size_t size) const {
    for (size_t byte = offset; byte < offset + size; ++byte) {
        const Word& word = words_[byte / kWordBytes];
        if (word.block == block_ && (word.written >> byte % kWordBytes & 1)) return false;
    }
    return true;
}

}  // namespace emu
