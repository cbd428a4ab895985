#include "global_shadow.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "../../../../common/host_memory.h"
#include "instrument/record/program_code.h"
#include "word_rules.h"

namespace emu {
namespace {

constexpr uint32_t kEpochs = 1 << 20;

class PageLock {
  public:
    explicit PageLock(GlobalShadow::Page& page) : page_(page) {
        // (Its holder may not be running: there can be more OS threads than cores.)
        for (int turn = 1; page_.lock.test_and_set(std::memory_order_acquire); ++turn) {
            if (turn % 64 == 0) sched_yield();
        }
    }
    ~PageLock() { page_.lock.clear(std::memory_order_release); }
    PageLock(const PageLock&) = delete;
    PageLock& operator=(const PageLock&) = delete;

  private:
    GlobalShadow::Page& page_;
};

bool sameThread(const GlobalRecord& a, const GlobalRecord& b) {
    return a.block == b.block && a.rank == b.rank;
}

bool harmless(const GlobalRecord& a, const GlobalRecord& b) {
    if (a.block != b.block && (a.isNarrow() || b.isNarrow())) return false;
    return harmlessTogether(a.accessKind(), a.isVolatile, b.accessKind(), b.isVolatile,
                            sameWarp(a, b));
}

// The place of a plain read beside an atomic.
uint32_t readerOf(const GlobalRace& race) {
    return race.first.accessKind() == AccessKind::Load ? race.first.place : race.second.place;
}

// A slot has the number of the first granule of memory, how many there are, and whether its thread
// waits for others before it stores there.
constexpr uintptr_t kGranule = 16;  // bytes
constexpr unsigned kNumberBits = 44, kCountBits = 19;
constexpr uint64_t kMostGranules = (uint64_t{1} << kCountBits) - 1;
constexpr uint64_t kWaits = uint64_t{1} << 63;

bool covers(uint64_t slot, uintptr_t granule) {
    const uint64_t first = slot & ((uint64_t{1} << kNumberBits) - 1);
    return granule - first < (slot & ~kWaits) >> kNumberBits;
}

uint32_t wordAt(uintptr_t address) {
    uint32_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(value));
    return value;
}

// Calls `found(record)` for what the launch `work` has done to the word.
template <typename Found>
void forPast(const GlobalShadow::Word& word, uint64_t work, Found found) {
    for (const GlobalRecord* access : {&word.write, &word.atomic, &word.read[0], &word.read[1]}) {
        if (access->bytes == 0) continue;
        PastRecord record;
        record.access = *access;
        record.work = static_cast<uint32_t>(work);
        found(record);
    }
}

}  // namespace

// ---- the records of all blocks

// Half of the free memory may become records.
GlobalShadow::GlobalShadow(StreamOrder& order) : order_(order) {
    mostPages_ = host::memory().available / 2 / (sizeof(Page) + sizeof(PastPage));
}

void GlobalShadow::beginLaunch(const LaunchWork& work) {
    for (auto& count : fences_) count.store(0, std::memory_order_relaxed);
    if (anyFence_.exchange(false)) {
        const std::lock_guard<std::mutex> lock(readsMutex_);
        withFences_.insert(running_.number);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    running_ = work;
    allAreBefore_ = work.parents.empty() && order_.allAreBefore(work);
    if (pages_.size() <= mostPages_ / 2) return;
    if (!allAreBefore_) incomplete_ = true;
    pages_.clear();
    ++generation_;
}

GlobalShadow::Page* GlobalShadow::page(uintptr_t address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = pages_.find(address / kPageBytes);
    if (known != pages_.end()) return known->second.get();
    if (pages_.size() >= mostPages_) {
        incomplete_ = true;
        return nullptr;
    }
    return pages_.emplace(address / kPageBytes, std::make_unique<Page>()).first->second.get();
}

void GlobalShadow::beginEra(Page& page, uintptr_t address, uint64_t era) {
    const uintptr_t begin = address / kPageBytes * kPageBytes;
    const uint64_t before = page.era >> 32;
    if (page.past == nullptr &&
        (!order_.hasEnded(before) || (!allAreBefore_ && transfers_.touch(begin, running_)))) {
        page.past = std::make_unique<PastPage>();
    }
    if (page.past != nullptr) {
        for (size_t i = 0; i < page.words.size(); ++i) {
            forPast(page.words[i], before,
                    [&](const PastRecord& record) { page.past->words[i].add(record); });
        }
        page.past->anyUnordered = false;
        if (!allAreBefore_) {
            transfers_.addTo(*page.past, begin);
            page.past->order(order_, running_);
        }
    }
    page.words.fill({});
    page.era = era;
}

bool GlobalShadow::mayMeet(uintptr_t page, const Work& work) {
    if (transfers_.touch(page, work)) return true;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = pages_.find(page / kPageBytes);
    if (known == pages_.end()) return false;
    const PageLock pageLock(*known->second);
    return known->second->past != nullptr || !order_.isBefore(known->second->era >> 32, work);
}

bool GlobalShadow::mayBeInUse(uintptr_t begin, size_t bytes, bool hostReads) {
    if (transfers_.mayRun(begin, bytes, hostReads)) return true;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = pages_.find(begin / kPageBytes);
    if (known == pages_.end()) return false;
    const PageLock pageLock(*known->second);
    if (!order_.hasEnded(known->second->era >> 32)) return true;
    if (known->second->past == nullptr) return false;
    uint32_t ended = 0;  // the work that the last record was of
    const auto mayRun = [&](const PastRecord& record) {
        if (record.access.bytes == 0 || record.work == ended) return false;
        ended = record.work;
        return !order_.hasEnded(record.work);
    };
    const auto& words = known->second->past->words;
    return std::any_of(words.begin(), words.end(), [&](const PastWord& word) {
        return mayRun(word.write) || mayRun(word.atomic) || mayRun(word.read[0]) ||
               mayRun(word.read[1]);
    });
}

std::optional<uint64_t> GlobalShadow::lastLaunchAt(uintptr_t begin, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (incomplete_ || generation_ > 1) return {};
    uint64_t last = 0;
    for (uintptr_t at = begin / kPageBytes * kPageBytes; at < begin + bytes; at += kPageBytes) {
        const auto known = pages_.find(at / kPageBytes);
        if (known != pages_.end()) last = std::max(last, known->second->era >> 32);
    }
    return last;
}

std::vector<PastRecord> GlobalShadow::recordsAt(uintptr_t address) {
    std::vector<PastRecord> records;
    transfers_.findAt(address, &records);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = pages_.find(address / kPageBytes);
    if (known == pages_.end()) return records;
    Page& page = *known->second;
    const PageLock pageLock(page);
    const auto add = [&](const PastRecord& record) { records.push_back(record); };
    const size_t word = address % kPageBytes / kWordBytes;
    forPast(page.words[word], page.era >> 32, add);
    if (page.past != nullptr) {
        const PastWord& past = page.past->words[word];
        for (const PastRecord* record : {&past.write, &past.atomic, &past.read[0], &past.read[1]}) {
            if (record->access.bytes != 0) add(*record);
        }
    }
    return records;
}

std::optional<PastRecord> GlobalShadow::writerAt(uintptr_t address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = pages_.find(address / kPageBytes);
    if (known == pages_.end()) return {};
    Page& page = *known->second;
    const PageLock pageLock(page);
    const Word& word = page.words[address % kPageBytes / kWordBytes];
    if (word.write.bytes == 0 || word.atomic.bytes != 0) return {};
    PastRecord record;
    record.access = word.write;
    record.work = static_cast<uint32_t>(page.era >> 32);
    return record;
}

void GlobalShadow::forget(uintptr_t begin, size_t bytes) {
    transfers_.forget(begin, bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto forgetPage = [](Page& page) {
        const PageLock pageLock(page);
        page.words.fill({});
        page.past.reset();
    };
    for (uintptr_t at = begin; at < begin + bytes; at += kPageBytes) {
        const auto known = pages_.find(at / kPageBytes);
        if (known != pages_.end()) forgetPage(*known->second);
    }
}

bool GlobalShadow::hasFences(uint64_t work) {
    const std::lock_guard<std::mutex> lock(readsMutex_);
    return withFences_.count(work) != 0;
}

std::atomic<uint64_t>& GlobalShadow::newSlot() {
    return slots_[slotsTaken_++ % kSlots];
}

uint64_t GlobalShadow::slotFor(uintptr_t address, size_t size) {
    const uint64_t first = address / kGranule, last = (address + size - 1) / kGranule;
    return first | std::min(last - first + 1, kMostGranules) << kNumberBits;
}

GlobalShadow::Awaited GlobalShadow::awaitStores(uintptr_t address,
                                                std::atomic<uint64_t>& own) const {
    const size_t count = std::min<size_t>(slotsTaken_, kSlots);
    Awaited result = Awaited::Carried;
    own |= kWaits;
    for (size_t i = 0; i < count && result == Awaited::Carried; ++i) {
        if (&slots_[i] == &own) continue;
        for (int turn = 1; result == Awaited::Carried; ++turn) {
            const uint64_t slot = slots_[i].load(std::memory_order_acquire);
            if (!covers(slot, address / kGranule)) break;
            // In a circle of them the first waits for one that comes later.
            if ((slot & kWaits) != 0 && &own < &slots_[i]) result = Awaited::Yields;
            if (turn == 1 << 16) result = Awaited::TooLong;
            if (turn % 64 == 0) sched_yield();
        }
    }
    own &= ~kWaits;
    return result;
}

void GlobalShadow::mayRace(const GlobalRecord& reader, uintptr_t word, const GlobalRace& race) {
    constexpr size_t kMost = size_t{1} << 20;
    const std::lock_guard<std::mutex> lock(readsMutex_);
    if (reads_.size() < kMost) {
        reads_.emplace(Read{word, reader.block, reader.rank}, race);
    } else {
        incomplete_ = true;
    }
    anyReads_ = true;
}

void GlobalShadow::updatesAtomically(const GlobalRecord& reader, uintptr_t word, bool compares) {
    if (!anyReads_) return;
    const std::lock_guard<std::mutex> lock(readsMutex_);
    const auto read = reads_.find({word, reader.block, reader.rank});
    if (read == reads_.end()) return;
    if (!compares) oldLooks_.insert(readerOf(read->second));
    reads_.erase(read);
}

std::vector<GlobalRace> GlobalShadow::takeRaces() {
    const std::lock_guard<std::mutex> lock(readsMutex_);
    std::vector<GlobalRace> races;
    for (const auto& [read, race] : reads_) races.push_back(race);
    reads_.clear();
    anyReads_ = false;
    return races;
}

void GlobalShadow::looksBeforeUpdate(uint32_t place) {
    const std::lock_guard<std::mutex> lock(readsMutex_);
    looks_.insert(place);
}

bool GlobalShadow::readsBeforeOwnAtomic(const GlobalRace& race) {
    const std::lock_guard<std::mutex> lock(readsMutex_);
    if (looks_.count(readerOf(race)) == 0) return false;
    oldLooks_.insert(readerOf(race));
    return true;
}

std::set<uint32_t> GlobalShadow::takeOldLooks() {
    const std::lock_guard<std::mutex> lock(readsMutex_);
    return std::exchange(oldLooks_, {});
}

// ---- a block

GlobalRaces::GlobalRaces(GlobalShadow& shadow, WarpClocks& clocks, WarpFences& fences)
    : shadow_(shadow), clocks_(clocks), fences_(fences), announced_(shadow.newSlot()) {}

void GlobalRaces::beginBlock(uint64_t era, uint64_t block) {
    era_ = era;
    block_ = static_cast<uint32_t>(block);
    epoch_ = 0;
    acquired_ = false;
    fences_.beginBlock(shadow_.fencesOf(block_));
    pending_.clear();
    races.clear();
    if (generation_ != shadow_.generation()) cache_.fill({});
    generation_ = shadow_.generation();
}

void GlobalRaces::barrier(bool wholeGrid) {
    epoch_ = (epoch_ + 1) % kEpochs;
    fences_.barrier();
    if (wholeGrid) ++era_;
}

void GlobalRaces::fence(unsigned rank) {
    shadow_.fence(block_);
    fences_.fence(rank);
}

void GlobalRaces::looksBeforeUpdate(uint32_t place) {
    if (looks_.insert(place).second) shadow_.looksBeforeUpdate(place);
}

GlobalShadow::Page* GlobalRaces::pageOf(uintptr_t address) {
    const uintptr_t number = address / GlobalShadow::kPageBytes;
    CachedPage& cached = cache_[number % cache_.size()];
    if (cached.number != number || cached.page == nullptr) {
        cached = {number, shadow_.page(address)};
    }
    return cached.page;
}

void GlobalRaces::touch(const Access& access, uintptr_t pc, unsigned rank) {
    GlobalRecord own;
    own.block = block_;
    own.place = placeOf(pc);
    own.epoch = epoch_;
    own.clock = std::min(clocks_.clockOf(rank), kMostClock);
    own.rank = rank;
    own.isVolatile = access.isVolatile;
    own.kind = static_cast<uint32_t>(access.kind);
    if (access.narrow && access.kind == AccessKind::Atomic) own.kind = GlobalRecord::kNarrow;
    own.fences = fences_.count();
    if (access.kind != AccessKind::Load && access.whole != 0) {
        announced_.store(GlobalShadow::slotFor(access.address, access.whole),
                         std::memory_order_release);
    }
    compares_ = access.compares;
    isTexture_ = access.isTexture;
    const size_t firstNew = pending_.size();
    const uintptr_t end = access.address + access.size;
    for (uintptr_t word = access.address / kWordBytes * kWordBytes; word < end;
         word += kWordBytes) {
        own.bytes = bytesOfWord(word, access.address, end);
        GlobalShadow::Page* const page = pageOf(word);
        if (page == nullptr) continue;
        const PageLock lock(*page);
        if (page->era != era_) shadow_.beginEra(*page, word, era_);
        const size_t index = word % GlobalShadow::kPageBytes / kWordBytes;
        const GlobalRace race{{}, own, access.address, access.size, Doer::SameLaunch};
        if (page->past != nullptr && page->past->anyUnordered) {
            touchPast(page->past->words[index], race, word);
        }
        touchWord(page->words[index], race, word);
    }
    readBefore(firstNew);
    if (access.kind == AccessKind::Atomic ||
        (access.isVolatile && access.kind == AccessKind::Load)) {
        acquired_ = true;
    }
}

// `race` lacks its first access: what the word knows of.
void GlobalRaces::touchWord(GlobalShadow::Word& word, const GlobalRace& race, uintptr_t address) {
    const GlobalRecord& own = race.second;
    const auto with = [&](const GlobalRecord& other) {
        return GlobalRace{
            other, own, race.address, race.size, Doer::SameLaunch, hasLooked(other, own)};
    };
    const auto look = [&](const GlobalRecord& other) {
        if (conflicts(other, own)) add(with(other));
    };
    switch (own.accessKind()) {
        case AccessKind::Load:
            if (isTexture_) {
                for (const GlobalRecord* write : {&word.write, &word.atomic}) {
                    if ((write->bytes & own.bytes) == 0) continue;
                    GlobalRace stale = with(*write);
                    stale.isTexture = true;
                    add(stale);
                }
                keepRead(word, own);
                return;
            }
            look(word.write);
            if (conflicts(word.atomic, own)) shadow_.mayRace(own, address, with(word.atomic));
            keepRead(word, own);
            return;
        case AccessKind::Store:
            look(word.atomic);
            look(word.read[0]);
            look(word.read[1]);
            if (conflicts(word.write, own)) {
                pending_.push_back({address, 0, with(word.write)});
            }
            word.write = own;
            return;
        case AccessKind::Atomic:
            look(word.write);
            look(word.atomic);
            shadow_.updatesAtomically(own, address, compares_);
            for (GlobalRecord& reader : word.read) {
                if (sameThread(reader, own)) {
                    reader.bytes = 0;
                } else if (conflicts(reader, own)) {
                    shadow_.mayRace(reader, address, with(reader));
                }
            }
            word.atomic = own;
            return;
    }
}

// As touchWord(), for what other work has done.
void GlobalRaces::touchPast(const PastWord& word, const GlobalRace& race, uintptr_t address) {
    for (const PastRecord* past : {&word.write, &word.atomic, &word.read[0], &word.read[1]}) {
        const GlobalRecord &other = past->access, &own = race.second;
        if (past->ordered || (other.bytes & own.bytes) == 0) continue;
        if (harmlessTogether(other.accessKind(), other.isVolatile, own.accessKind(), own.isVolatile,
                             false)) {
            continue;
        }
        const GlobalRace found{other, own, race.address, race.size, past->doer};
        const bool mayKnow = acquired_ || past->doer == Doer::Parent;
        if (mayKnow && shadow_.hasFences(past->work)) {
            addNotJudged(other, own);
        } else if (other.accessKind() == AccessKind::Store &&
                   own.accessKind() == AccessKind::Store) {
            pending_.push_back({address, 0, found});
        } else if (other.accessKind() == AccessKind::Atomic &&
                   own.accessKind() == AccessKind::Load) {
            shadow_.mayRace(own, address, found);
        } else {
            add(found);
        }
    }
}

// Two writes race if they differ: so what is there must be what the other one wrote. Its thread may
// be on another OS thread, and just about to.
void GlobalRaces::readBefore(size_t firstNew) {
    for (size_t i = firstNew; i < pending_.size(); ++i) {
        PendingWrite& write = pending_[i];
        GlobalRecord& other = write.race.first;
        if (write.race.firstDoer == Doer::SameLaunch && other.block != block_) {
            const auto awaited = shadow_.awaitStores(write.word, announced_);
            if (awaited == GlobalShadow::Awaited::TooLong) addNotJudged(other, write.race.second);
            if (awaited != GlobalShadow::Awaited::Carried) other.bytes = 0;  // compares nothing
        }
        write.before = wordAt(write.word);
    }
}

bool GlobalRaces::orderedBefore(const GlobalRecord& other, const GlobalRecord& own) const {
    if (other.block != own.block) return false;
    if (other.rank == own.rank || other.epoch != own.epoch) return true;
    if (other.clock == kMostClock) return sameWarp(other, own) || clocks_.ofWholeBlock();
    return clocks_.ordered(other.rank, other.clock, own.rank);
}

// At a flag, which may tell of what the thread of `other` did.
bool GlobalRaces::hasLooked(const GlobalRecord& other, const GlobalRecord& own) const {
    return other.block == block_ ? fences_.hasLooked(own.rank) : acquired_;
}

// By a fence and a flag.
bool GlobalRaces::mayBeOrdered(const GlobalRecord& other, const GlobalRecord& own) const {
    if (other.block == block_) return fences_.mayOrder(other.rank, other.fences, own.rank);
    return acquired_ && shadow_.fencesOf(other.block) % WarpFences::kModulus != other.fences;
}

bool GlobalRaces::conflicts(const GlobalRecord& other, const GlobalRecord& own) {
    if ((other.bytes & own.bytes) == 0 || orderedBefore(other, own)) return false;
    if (harmless(other, own)) return false;
    if (mayBeOrdered(other, own)) {
        addNotJudged(other, own);
        return false;
    }
    return true;
}

void GlobalRaces::addNotJudged(const GlobalRecord& other, const GlobalRecord& own) {
    const std::pair<uint32_t, uint32_t> pair(other.place, own.place);
    if (std::find(notJudged.begin(), notJudged.end(), pair) == notJudged.end()) {
        notJudged.push_back(pair);
    }
}

void GlobalRaces::keepRead(GlobalShadow::Word& word, const GlobalRecord& own) const {
    const auto replaces = [&](const GlobalRecord& known) {
        return known.bytes == 0 || ((known.bytes & ~own.bytes) == 0 && orderedBefore(known, own));
    };
    GlobalRecord &first = word.read[0], &second = word.read[1];
    if (replaces(first)) {
        first = own;
    } else if (replaces(second)) {
        second = own;
    } else if (first.block == second.block && own.block != first.block) {
        second = own;
    } else if (sameWarp(first, second) && !sameWarp(first, own)) {
        second = own;
    }
}

// An access of several words counts once.
void GlobalRaces::add(const GlobalRace& race) {
    const bool known = std::any_of(races.begin(), races.end(), [&](const GlobalRace& other) {
        return race.firstDoer == other.firstDoer && sameThread(race.first, other.first) &&
               race.first.place == other.first.place && sameThread(race.second, other.second) &&
               race.second.place == other.second.place;
    });
    if (!known) races.push_back(race);
}

void GlobalRaces::settle() {
    announced_.store(0, std::memory_order_release);
    for (const PendingWrite& write : pending_) {
        const GlobalRace& race = write.race;
        if (!sameBytes(write.before, wordAt(write.word), race.first.bytes & race.second.bytes)) {
            add(race);
        }
    }
    pending_.clear();
}

}  // namespace emu
