#include "block_checker.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "access_text.h"
#include "allocation_text.h"
#include "engine/guarded_memory.h"
#include "engine/host_allocator.h"
#include "engine/kernel_heap.h"
#include "engine/kernel_limits.h"
#include "engine/messages.h"
#include "engine/number_text.h"
#include "engine/program_symbols.h"
#include "engine/reason.h"
#include "engine/scheduler.h"
#include "engine/symbolizer.h"
#include "instrument/record/memory_map.h"
#include "quad_types.h"
#include "variable_text.h"

namespace emu {
namespace {

constexpr uintptr_t kPage = 4096;
// The stack of a call in a debug build of a CPU, at most so many times that on a GPU, but for calls
// that the compiler for a GPU leaves out. (With nvcc -O3 for sm_90: 1 to 4 times with g++.)
constexpr size_t kFrameOfGpu = 4;
constexpr size_t kMostUninitialised = 4096;  // candidates between two barriers

// The host has memory there, and not just a reserved address. (The system reads the signals of a
// mask before it says that it does not know what to do with them.)
bool isReadable(uintptr_t address) {
    constexpr int kUnknown = ~0;
    constexpr size_t kMask = 8;         // bytes
    if (address < kPage) return false;  // to the system, a null pointer is no mask
    const uintptr_t mask = address / kMask * kMask;
    return syscall(SYS_rt_sigprocmask, kUnknown, mask, nullptr, kMask) == 0 || errno != EFAULT;
}

// CUDA_EMULATOR_UNDEFINED=other: what shuffles get from lanes that take no part is another value
// than usual, and a hazard. ./lab check sets it to see whether anything depends on that value.
bool shufflesAreUsed() {
    static const bool wanted = std::getenv("CUDA_EMULATOR_UNDEFINED") != nullptr;
    return wanted;
}

const char* verbFor(const SharedAccess& access) {
    if (!access.isAsync) return verb(access.kind);
    if (access.kind == AccessKind::Load) return kStoresInBulk;
    return access.barrier != 0 ? kCopiesForBarrier : kCopiesThere;
}

// What the copy does in shared memory; or else in global memory.
const char* verbFor(const AsyncCopy& copy, bool inShared) {
    if (copy.store) return inShared ? kStoresInBulk : verb(AccessKind::Store);
    if (!inShared) return kCopiesFromThere;
    return copy.barrier != nullptr ? kCopiesForBarrier : kCopiesThere;
}

bool overlap(uintptr_t a, size_t aSize, uintptr_t b, size_t bSize) {
    return a < b + bSize && b < a + aSize;
}

// The only name in the line with an index behind it, or nothing.
std::string indexedIn(const std::string& line) {
    const auto isOfName = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    std::string found;
    for (size_t end = line.find('['); end != std::string::npos; end = line.find('[', end + 1)) {
        size_t begin = end;
        while (begin > 0 && isOfName(line[begin - 1])) --begin;
        const std::string name = line.substr(begin, end - begin);
        if (name.empty() || name == found) continue;  // such as tile[y][x]
        if (!found.empty()) return {};
        found = name;
    }
    return found;
}

// The first calls in the user's code in which two threads differ.
std::optional<std::pair<uintptr_t, uintptr_t>> firstApart(const std::vector<uintptr_t>& a,
                                                          const std::vector<uintptr_t>& b) {
    const auto skip = [](auto& next, const auto& end) {
        while (next != end && !isUserCode(*next)) ++next;
        return next != end;
    };
    auto one = a.begin(), other = b.begin();
    while (skip(one, a.end()) && skip(other, b.end())) {
        if (*one != *other) return std::make_pair(*one, *other);
        ++one;
        ++other;
    }
    return std::nullopt;
}

// What the copy writes; and what it reads, if anything.
Access writeOf(const AsyncCopy& copy) {
    Access access{};
    access.address = reinterpret_cast<uintptr_t>(copy.to);
    access.pc = copy.pc;
    access.size = access.whole = static_cast<uint32_t>(copy.size);
    access.kind = AccessKind::Store;
    access.space = copy.store ? Space::Global : Space::Shared;
    return access;
}
Access readOf(const AsyncCopy& copy) {
    Access access{};
    access.address = reinterpret_cast<uintptr_t>(copy.from);
    access.pc = copy.pc;
    access.size = access.whole = static_cast<uint32_t>(copy.read);
    access.kind = AccessKind::Load;
    access.space = copy.store ? Space::Shared : Space::Global;
    return access;
}

}  // namespace

// ---- the life of a block

void BlockChecker::blockBegins(const Grid& grid, uint64_t launch) {
    memoryMap.beginBlock();
    blockRuns_ = true;
    if (!shadow_ || sharedBegin_ != memoryMap.sharedBegin()) {
        sharedBegin_ = memoryMap.sharedBegin();
        shadow_ =
            std::make_unique<SharedShadow>(reinterpret_cast<const unsigned char*>(sharedBegin_),
                                           memoryMap.sharedSize(), clocks_, fences_);
    }
    threadCount_ = blockDim.x * blockDim.y * blockDim.z;
    clocks_.beginBlock(threadCount_);
    shadow_->beginBlock();
    mbarriers_.clear();
    barriers_.beginBlock(grid.call.id);
    for (unsigned rank = 0; rank < threadCount_; ++rank) {
        threads_[rank].inKernel = false;
        threads_[rank].steps = 0;
        threads_[rank].copies.clear();
    }
    variables_.beginBlock(grid, sharedBegin_, memoryMap.sharedSize());
    aliases_.beginBlock();
    found_.beginBlock(grid, launch);
    globals_.beginBlock(launch);
    kernelFunction_ = reinterpret_cast<uintptr_t>(grid.call.id);
    if (launch != launch_) summedPc_ = 0;
    launch_ = launch;
    barriersPassed_ = gridBarriersPassed_ = 0;
    uninitialised_.clear();
    looks_.clear();
    deepest_ = {};
    unsettledPc_ = 0;
}

void BlockChecker::blockEnded(bool completed) {
    recorder = nullptr;
    if (!blockRuns_) return;
    blockRuns_ = false;
    settle();
    confirmUninitialised();
    shadow_->barrier(races_);
    reportRaces();
    if (completed) {
        for (const auto& passed : barriers_.passedBy()) {
            Place place;
            place.file = passed.site.file;
            place.line = passed.site.line;
            const std::string others =
                passed.count == 1 ? std::string()
                                  : ", like " + number(passed.count - 1) + " more of its block";
            found_.report(
                {Hazard::Barrier,
                 std::string("not all threads reach ") + passed.site.what,
                 {{place, threadIndexOf(passed.waiting), "waits"},
                  actOf(passed.from, passed.ended, "ends without having been there" + others)},
                 ""});
        }
    }
    if (deepest_.calls > 0) reportRecursion();
    for (auto& [rank, finding] : unread_) found_.report(std::move(finding));
    unread_.clear();
    found_.handOver(findings_);
    globals_.handOver(findings_);
    for (const auto& [first, second] : shadow_->notJudged) {
        findings_.addNotJudged({first, nullptr, 0}, {second, nullptr, 0});
    }
    shadow_->notJudged.clear();
    for (const uintptr_t pc : shadow_->oldLooks) findings_.addOldLook({pc, nullptr, 0});
    shadow_->oldLooks.clear();
}

void BlockChecker::threadRuns(unsigned rank) {
    const Fiber* fiber = currentFiber();
    memoryMap.setStack(fiber->stackBottom, fiber->stackSize);
    if (rank != rank_) settle();
    rank_ = rank;
    recorder = threads_[rank].inKernel ? this : nullptr;
}

void BlockChecker::threadPauses() {
    recorder = nullptr;
    settle();
}

void BlockChecker::kernelBegins(unsigned rank) {
    Thread& thread = threads_[rank];
    rank_ = rank;
    thread.inKernel = true;
    thread.callers.clear();
    thread.stack.clear();
    thread.path = {};
    thread.lastPc = 0;
    thread.lastAccess = {};
    thread.badIndex = 0;
    thread.reads = {};
    recorder = this;
}

void BlockChecker::kernelEnds(unsigned rank) {
    recorder = nullptr;
    settle();
    threads_[rank].inKernel = false;
}

void BlockChecker::threadEnded(unsigned rank) {
    barriers_.threadEnded(rank, threads_[rank].path);
}

// ---- meetings

void BlockChecker::barrierReached(unsigned rank, const CallSite& site) {
    const Quiet quiet;
    settle();
    const Thread& thread = threads_[rank];
    const uintptr_t call = userPc(thread, thread.lastPc);
    BarrierCheck::TwoBarriers clash;
    if (!barriers_.reached(rank, {site, call, kernelPc(thread)}, &clash)) return;
    Finding finding{Hazard::Barrier, "threads of one block wait at two barriers", {}, ""};
    for (int i : {0, 1}) {
        Place place;
        place.pc = clash.barrier[i].call;
        finding.acts.push_back({place, threadIndexOf(clash.rank[i]),
                                std::string("waits at ") + clash.barrier[i].site.what});
    }
    found_.report(std::move(finding));
}

void BlockChecker::barrierReleased(bool wholeGrid) {
    const Quiet quiet;
    settle();
    confirmUninitialised();
    shadow_->barrier(races_);
    if (!races_.empty()) reportRaces();
    globals_.barrier(wholeGrid);
    ++barriersPassed_;
    gridBarriersPassed_ += wholeGrid ? 1 : 0;
    barriers_.released();
    for (unsigned rank = 0; rank < threadCount_; ++rank) {
        threads_[rank].steps = 0;
        meetsCopiesOf(rank);
    }
}

void BlockChecker::warpMet(unsigned warp, unsigned mask, bool ordersMemory) {
    const Quiet quiet;
    settle();
    if (!ordersMemory) return;
    clocks_.synced(warp, mask);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        if (mask >> lane & 1) meetsCopiesOf(warp * kWarpSize + lane);
    }
}

bool BlockChecker::shuffleFromNobody(unsigned rank, unsigned lane, bool inMask,
                                     const CallSite& site) {
    const Quiet quiet;
    settle();
    Place place;
    place.file = site.file;
    place.line = site.line;
    const std::string what =
        "reads lane " + number(lane) +
        (inMask ? ", which has ended or is not in the block" : ", which is not in the mask");
    const bool isUsed = shufflesAreUsed();
    found_.report({isUsed ? Hazard::UsedShuffle : Hazard::Shuffle,
                   site.what,
                   {{place, threadIndexOf(rank), what}},
                   ""});
    return isUsed;
}

// Each thread's stack and each block's shared memory are its own.
void BlockChecker::argumentsGiven(const std::string& kernel, const KernelArgument* arguments,
                                  size_t count) {
    const Quiet quiet;
    settle();
    const Thread& thread = threads_[rank_];
    const Fiber* fiber = currentFiber();
    const auto stack = reinterpret_cast<uintptr_t>(fiber->stackBottom);
    for (size_t i = 0; i < count; ++i) {
        for (size_t at = 0; at + sizeof(void*) <= arguments[i].size; at += sizeof(void*)) {
            uintptr_t value;
            std::memcpy(&value, static_cast<const char*>(arguments[i].value) + at, sizeof(value));
            const bool isShared = value - sharedBegin_ < memoryMap.sharedSize();
            if (!isShared && value - stack >= fiber->stackSize) continue;
            found_.report(
                {Hazard::LocalToChild,
                 "argument " + number(i + 1) + " of " + kernel + " is an address in " +
                     (isShared ? "shared memory of the block" : "local memory of the thread"),
                 {actOf(userPc(thread, thread.lastPc), rank_, "launches " + kernel)},
                 isShared ? variables_.nameOf(value - sharedBegin_) : ""});
            break;
        }
    }
}

// The lanes of a warp have met in a shuffle. A GPU lets them, but who writes one for each branch,
// or calls a function in each, may want two.
void BlockChecker::shuffleMeets(unsigned warp, unsigned mask) {
    const Quiet quiet;
    const unsigned first = warp * kWarpSize + static_cast<unsigned>(__builtin_ctz(mask));
    for (unsigned rank = first + 1; rank < (warp + 1) * kWarpSize; ++rank) {
        if ((mask >> rank % kWarpSize & 1) == 0) continue;
        const auto apart = firstApart(threads_[first].callers, threads_[rank].callers);
        if (!apart) continue;
        found_.report({Hazard::TwoPlaces,
                       "",
                       {actOf(apart->first, first, "takes part from here"),
                        actOf(apart->second, rank, "takes part from here")},
                       ""});
        return;
    }
}

LaunchPoint BlockChecker::launchPoint() {
    const Quiet quiet;
    settle();
    return globals_.launchPoint(rank_);
}

void BlockChecker::failed(Failure failure, const std::string& message) {
    recorder = nullptr;
    const bool reported =
        failure == Failure::DivergentBarrier || failure == Failure::MisalignedAccess;
    if (!blockRuns_ || reported) return;
    const Thread& thread = threads_[rank_];
    Finding finding{Hazard::Failure, message, {}, ""};
    std::string what = "was here";
    const Access& last = thread.lastAccess;
    if (failure == Failure::IllegalAccess && last.pc != 0 && last.pc == thread.lastPc) {
        what = verb(last.kind);
        if (last.address < kPage) {
            finding.about = kNullPointer;
            if (const size_t heap = fullKernelHeap()) {
                finding.why = "malloc() or new in a kernel found no room in the heap of " +
                              bytes(heap) + " (cudaLimitMallocHeapSize), and returned it";
            }
        }
    }
    if (thread.lastPc != 0) {
        finding.acts.push_back(actOf(userPc(thread, thread.lastPc), rank_, what));
    }
    found_.report(std::move(finding));
}

void BlockChecker::refused(const std::string& what, const std::string& why) {
    const Quiet quiet;
    const Thread& thread = threads_[rank_];
    Finding finding{
        Hazard::Refused, what, {actOf(userPc(thread, thread.lastPc), rank_, "goes on")}, ""};
    finding.why = why;
    unread_[rank_] = std::move(finding);
}

void BlockChecker::errorRead() {
    const Quiet quiet;
    unread_.erase(rank_);
}

// ---- what the running thread does

void BlockChecker::sum(double before, double value, bool isDouble) {
    const Quiet quiet;
    const Thread& thread = threads_[rank_];
    const Access& access = thread.lastAccess;
    const uintptr_t pc = userPc(thread, access.pc);
    if (pc == summedPc_) return;
    const FloatAddition addition{access.address,
                                 before,
                                 value,
                                 isDouble,
                                 launch_,
                                 linearBlock(),
                                 rank_,
                                 access.space == Space::Shared,
                                 barriersPassed_,
                                 gridBarriersPassed_,
                                 clocks_.clockOf(rank_)};
    const auto found = sums_.add(addition, [&](const FloatAddition& first) {
        return first.block == addition.block && clocks_.ordered(first.rank, first.clock, rank_);
    });
    if (!found) return;
    summedPc_ = pc;
    const auto text = [&](double number) { return format(isDouble ? "%.17g" : "%.9g", number); };
    const FloatAddition& first = found->first;
    const std::string who =
        first.block == addition.block
            ? "thread " + emu::text(threadIndexOf(first.rank))
            : "block " + emu::text(blockIndexOf(static_cast<uint32_t>(first.block), gridDim));
    found_.report({Hazard::SumOrder,
                   text(found->sum) + ", or " + text(found->otherwise) + " if the " +
                       text(first.value) + " of " + who + " comes last",
                   {actOf(pc, rank_, "adds " + text(value))},
                   ""});
}

void BlockChecker::fence() {
    const Quiet quiet;
    settle();
    globals_.fence(rank_);
}

void BlockChecker::proxyFence() {
    const Quiet quiet;
    settle();
    shadow_->proxyFence(rank_);
}

void BlockChecker::enter(uintptr_t caller) {
    const Quiet quiet;
    settle();
    Thread& thread = threads_[rank_];
    thread.callers.push_back(caller);
    thread.stack.enter(caller, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
    const size_t most = stackSizeLimit.load(std::memory_order_relaxed) * kFrameOfGpu;
    if (thread.stack.bytes() <= std::max(most, deepest_.bytes)) return;
    const Recursion recursion = thread.stack.recursion();
    if (recursion.bytes <= std::max(most, deepest_.bytes)) return;
    deepest_ = recursion;
    deepest_.rank = rank_;
}

void BlockChecker::reportRecursion() {
    Finding finding{Hazard::Stack,
                    number(deepest_.calls) + " calls take " + bytes(deepest_.bytes) + " here",
                    {actOf(userPc(threads_[deepest_.rank], deepest_.caller), deepest_.rank,
                           "calls the function again")},
                    ""};
    finding.why =
        "a GPU has " + bytes(stackSizeLimit) +
        " for them (cudaLimitStackSize); a call may take less there, but hardly a quarter";
    found_.report(std::move(finding));
}

uintptr_t BlockChecker::place() {
    const Quiet quiet;
    return userPc(threads_[rank_], threads_[rank_].lastPc);
}

void BlockChecker::leave(uintptr_t) {
    const Quiet quiet;
    settle();
    Thread& thread = threads_[rank_];
    thread.callers.pop_back();
    thread.stack.leave();
    if (thread.callers.empty()) thread.path.ended = true;
}

void BlockChecker::basicBlock(uintptr_t pc) {
    const Quiet quiet;
    settle();
    Thread& thread = threads_[rank_];
    // (A function may have a block of its own behind its end.)
    KernelPath& path = thread.path;
    const uintptr_t function = functionOf(pc);
    if (!path.ended) thread.lastPc = pc;
    if (kernelFunction_ == 0) kernelFunction_ = function;
    if (function != kernelFunction_) return;
    if (path.ended) {
        path.hasReturn = true;
    } else {
        path.add(pc);
    }
}

void BlockChecker::returns(uintptr_t pc) {
    const Quiet quiet;
    KernelPath& path = threads_[rank_].path;
    if (functionOf(pc) == kernelFunction_ && !path.ended) path.returns();
}

void BlockChecker::access(const Access& announced) {
    const Quiet quiet;
    Thread& thread = threads_[rank_];
    Access access = announced;
    if (access.kind == AccessKind::Atomic || access.isVolatile) {
        access.narrow = std::exchange(thread.narrow, false);
    }
    // Of a struct that is copied g++ announces the store before the load.
    const bool mayBeOfCopy = access.kind == AccessKind::Load && !access.isVolatile;
    if (access.pc != unsettledPc_ && !mayBeOfCopy) settle();
    thread.lastPc = access.pc;
    thread.lastAccess = access;
    ++thread.steps;
    const uintptr_t pc = userPc(thread, access.pc);
    if (!thread.copies.empty()) beforeOwnWait(access, pc, verb(access.kind));
    const bool isOfGpu = access.space != Space::Other;  // not the arguments of a child's launch
    if (isOfGpu && !access.packed && access.address % access.size != 0) misaligned(access, pc);
    if (access.kind == AccessKind::Atomic) {
        looksBeforeUpdate(access, pc);
    } else if (access.kind == AccessKind::Load && !access.isVolatile) {
        thread.reads.add(access.address, pc);
    }
    if (access.space == Space::Shared) {
        sharedAccess(access, pc);
    } else if (access.space == Space::Global) {
        globals_.access(access, pc, rank_);
        if (access.kind != AccessKind::Load) unsettledPc_ = access.pc;
        if (addresses_.mayHold(access.address, access.allBytes())) meetsHostAddress(access, pc);
        if (access.kind != AccessKind::Store && fills_.any() && !access.packed) {
            const auto fill = fills_.read(access.address, access.size);
            if (fill) readsFilled(*fill, access, pc);
        }
    }
    if (access.kind == AccessKind::Atomic ||
        (access.kind == AccessKind::Load && access.isVolatile)) {
        fences_.looksAtFlag(rank_);
    }
    if (isStray(access)) strayAccess(access, pc);
}

void BlockChecker::table(const Access& access) {
    const Quiet quiet;
    settle();
    Thread& thread = threads_[rank_];
    thread.lastPc = access.pc;
    const bool isGlobal = access.space == Space::Global;
    if (isGlobal && addresses_.mayHold(access.address, access.size)) {
        meetsHostAddress(access, userPc(thread, access.pc));
    }
}

// Where the host may have put an address of its own.
void BlockChecker::meetsHostAddress(const Access& access, uintptr_t pc) {
    if (access.kind != AccessKind::Load) {
        addresses_.writtenByDevice(access.address, access.allBytes());
        return;
    }
    auto finding = addresses_.readByDevice(access.address, access.allBytes());
    if (!finding) return;
    finding->acts.push_back(actOf(pc, rank_, "reads it"));
    found_.report(std::move(*finding));
}

// Remembers places that read what this atomic updates, and come before it in the source: not those
// of the turn of a loop before.
void BlockChecker::looksBeforeUpdate(const Access& atomic, uintptr_t pc) {
    const Thread& thread = threads_[rank_];
    thread.reads.forEachAt(atomic.address, [&](uintptr_t read) {
        const uintptr_t own = functionOf(read) == kernelFunction_ ? kernelPc(thread) : pc;
        if (read >= own) return;
        if (atomic.space == Space::Shared) {
            looks_.insert(read);
        } else {
            globals_.looksBeforeUpdate(read);
        }
    });
}

// The program may not live to the end of the block.
void BlockChecker::reportAtOnce(Finding finding) {
    const auto place = std::make_pair(finding.hazard, finding.acts[0].place.pc);
    found_.report(std::move(finding));
    if (reportedAtOnce_.insert(place).second) found_.handOver(findings_);
}

void BlockChecker::badIndex(const BadIndex& bad) {
    const Quiet quiet;
    const uintptr_t pc = userPc(threads_[rank_], bad.pc);
    threads_[rank_].badIndex = pc;
    if (found_.again(Hazard::ArrayBounds, pc, 0, false)) return;
    const size_t length = bad.array.find('['), end = bad.array.find(']');
    const SourceLine line = sourceLine(pc);
    const std::string name = indexedIn(sourceText(line.file, line.line));
    const std::string array = name.empty() ? bad.array : name + " (" + bad.array + ")";
    std::string about = "index " + bad.index + " of " + array;
    if (length != std::string::npos && end != std::string::npos) {
        const std::string elements = bad.array.substr(length + 1, end - length - 1);
        about += ", which has " + elements + (elements == "1" ? " element" : " elements");
    }
    reportAtOnce(
        {Hazard::ArrayBounds, about, {actOf(pc, rank_, "uses the index " + bad.index)}, ""});
}

// On a GPU the kernel ends here.
void BlockChecker::misaligned(const Access& access, uintptr_t pc) {
    const bool mayBeRight = access.size == 16 && access.address % 8 == 0 && !access.isQuad;
    if (mayBeRight && !namesQuad(functionOf(pc), pc)) return;
    found_.report({Hazard::Misaligned,
                   "an access of " + bytes(access.size) + " to an address that is " +
                       number(access.address % access.size) + " beyond a multiple of that",
                   {actOf(pc, rank_, verb(access.kind))},
                   ""});
}

void BlockChecker::readsFilled(const ByteFill& fill, const Access& access, uintptr_t pc) {
    uint64_t value = 0;
    std::memset(&value, static_cast<int>(fill.value), access.size);
    Finding finding{Hazard::ByteFill,
                    "",
                    {actOfHost(fill.pc, "sets each byte to " + number(fill.value)),
                     actOf(pc, rank_, verb(access.kind))},
                    ""};
    finding.why = "what is read has " + bytes(access.size) + ": as an integer " + number(value) +
                  ", and not " + number(fill.value);
    found_.report(std::move(finding));
}

// ---- shared memory

void BlockChecker::sharedReached(const void* variable, size_t size) {
    const Quiet quiet;
    const size_t offset = reinterpret_cast<uintptr_t>(variable) - sharedBegin_;
    variables_.add({offset, offset + size});
}

// The memory around `offset` that the running thread may use; 0 to 0 if none.
SharedVariables::Range BlockChecker::sharedAround(size_t offset, uintptr_t pc) {
    const auto known = variables_.around(offset);
    if (known) return *known;
    // Whose declaration the translator has not understood (it is a macro's).
    const auto variable = variables_.unknownAt(offset);
    if (!variable) return {0, 0};
    const auto isOwn = [&](uintptr_t place) { return isVariableOf(*variable, functionOf(place)); };
    const auto& callers = threads_[rank_].callers;
    const bool isGlobal = variable->name.rfind("_ZZ", 0) != 0;
    if (!isGlobal && !isOwn(pc) && std::none_of(callers.begin(), callers.end(), isOwn)) {
        return {0, 0};
    }
    variables_.add({variable->begin, variable->begin + variable->size});
    return {variable->begin, variable->begin + variable->size};
}

// Reports an access beyond all arrays, and returns whether it is none.
bool BlockChecker::sharedBounds(const Access& access, uintptr_t pc) {
    const size_t offset = access.address - sharedBegin_;
    if (offset + access.size <= sharedAround(offset, pc).end) return true;
    const uintptr_t bad = threads_[rank_].badIndex;
    if (bad != 0 && sourceLine(bad).line == sourceLine(pc).line) return false;  // that is known
    const auto dynamic = variables_.dynamic();
    std::string where = variables_.nextTo(offset, access.size);
    std::string about = "no __shared__ variable of the kernel is there";
    if (offset >= dynamic.begin) {
        where = element(offset - dynamic.begin, access.size) + " of dynamic shared memory";
        about = "the launch asked for " + bytes(dynamic.end - dynamic.begin) +
                " of dynamic shared memory";
    }
    if (!found_.again(Hazard::SharedBounds, pc, 0, false)) {
        reportAtOnce({Hazard::SharedBounds, about, {actOf(pc, rank_, verb(access.kind))}, where});
    }
    return false;
}

void BlockChecker::sharedAccess(const Access& access, uintptr_t pc) {
    if (!sharedBounds(access, pc)) return;
    const size_t offset = access.address - sharedBegin_;
    const auto dynamic = variables_.dynamic();
    if (offset >= dynamic.begin && offset < dynamic.end) {
        const auto lost = aliases_.access(offset - dynamic.begin, access, pc, rank_);
        if (lost) reportLost(*lost, access, pc);
    }
    const bool reads = access.kind != AccessKind::Store && !access.exchanges;
    // A struct comes in parts, of which the first tells its size; between its members may be gaps
    // that nobody writes.
    const size_t whole = std::min<size_t>(access.whole, variables_.around(offset)->end - offset);
    if (reads && whole != 0 && uninitialised_.size() < kMostUninitialised &&
        variables_.unwritten(offset, whole) && shadow_->neverWritten(offset, whole)) {
        const Uninitialised read{offset, access.size, pc, rank_, access.kind};
        if (access.kind == AccessKind::Atomic) {
            reportUninitialised(read);  // it writes, too: nobody can do so before it any more
        } else {
            uninitialised_.push_back(read);
        }
    }
    SharedAccess shared;
    shared.pc = pc;
    shared.offset = offset;
    shared.size = access.size;
    shared.step = threads_[rank_].steps;
    shared.rank = static_cast<uint16_t>(rank_);
    shared.kind = access.kind;
    shared.isVolatile = access.isVolatile;
    shared.compares = access.compares;
    shadow_->touch(shared, races_);
    if (shared.writes()) unsettledPc_ = access.pc;
    if (!races_.empty()) reportRaces();
}

void BlockChecker::reportLost(const LostValue& lost, const Access& access, uintptr_t pc) {
    const SourceLine use = sourceLine(pc);
    // The declaration above the use, if it is not in another file.
    const auto declared = [&](const DynamicArray& array) {
        const DynamicArray::Declaration* best = &array.declarations.front();
        for (const DynamicArray::Declaration& each : array.declarations) {
            if (each.line <= use.line && shownPath(each.file) == use.file) best = &each;
        }
        return array.name + " (" + shownPath(best->file) + ":" + std::to_string(best->line) + ")";
    };
    const size_t offset = access.address - sharedBegin_;
    found_.report({Hazard::SharedAlias,
                   declared(*lost.first) + " and " + declared(*lost.second) +
                       " both begin at byte 0 of dynamic shared memory",
                   {actOf(lost.pc, lost.rank, "writes " + lost.second->name),
                    actOf(pc, rank_, "reads what it was in " + lost.first->name)},
                   variables_.nameOf(offset, access.size)});
}

// ---- asynchronous copies

// (The engine has looked at their alignment.)
void BlockChecker::asyncCopyBegins(unsigned rank, const AsyncCopy& copy) {
    const Quiet quiet;
    settle();
    Thread& thread = threads_[rank];
    Access write = writeOf(copy), read = readOf(copy);
    const uintptr_t pc = userPc(thread, copy.pc);
    thread.lastPc = copy.pc;
    thread.lastAccess = read;
    ++thread.steps;
    Access& inGlobal = copy.store ? write : read;
    const Access& inShared = copy.store ? read : write;
    beforeOwnWait(inShared, pc, verbFor(copy, true));
    if (inGlobal.size > 0) {
        if (memoryMap.classify(inGlobal.address, &inGlobal.space) && isStray(inGlobal)) {
            strayAccess(inGlobal, pc);
        }
    }
    CopyUnderWay underWay{copy, pc, thread.steps, sharedBounds(inShared, pc)};
    if (copy.barrier != nullptr) underWay.barrier = numberOf(mbarrier(copy.barrier));
    if (underWay.barrier != 0) clocks_.copyBegins(rank, underWay.barrier);
    thread.copies.push_back(underWay);
    meets(underWay, rank);
    if (!copy.store) return;
    if (underWay.inBounds) storesUnfenced(read, pc, rank);
    if (write.space == Space::Global) globals_.access(write, pc, rank);
}

// From now on it is done for the mbarrier.
void BlockChecker::asyncCopyBound(unsigned rank, const AsyncCopy& copy) {
    const Quiet quiet;
    settle();
    for (CopyUnderWay& underWay : threads_[rank].copies) {
        if (underWay.copy.number != copy.number) continue;
        underWay.copy.barrier = copy.barrier;
        underWay.barrier = numberOf(mbarrier(copy.barrier));
        clocks_.copyBegins(rank, underWay.barrier);
        meets(underWay, rank);
    }
}

void BlockChecker::asyncCopyEnds(unsigned rank, const AsyncCopy& copy) {
    const Quiet quiet;
    settle();
    std::vector<CopyUnderWay>& copies = threads_[rank].copies;
    const auto isIt = [&](const CopyUnderWay& each) { return each.copy.number == copy.number; };
    const auto found = std::find_if(copies.begin(), copies.end(), isIt);
    if (found == copies.end()) return;
    if (copy.store && !threads_[rank].inKernel) {
        found_.report({Hazard::BulkUnwaited, "", {actOf(found->pc, rank, kStoresInBulk)}, ""});
    }
    copies.erase(found);
}

// (The engine has seen to their bounds.)
void BlockChecker::texelsAccessed(const TexelAccess& texels) {
    for (unsigned i = 0; i < texels.count; ++i) {
        Access texel{};
        texel.address = texels.texel[i];
        texel.pc = texels.pc;
        texel.size = texel.whole = texels.bytes;
        texel.kind = texels.isStore ? AccessKind::Store : AccessKind::Load;
        texel.isTexture = !texels.isStore;
        if (memoryMap.classify(texel.address, &texel.space)) access(texel);
    }
}

// The copy may be carried out now: it meets what others do until the next meeting of threads.
void BlockChecker::meets(const CopyUnderWay& underWay, unsigned rank) {
    if (!underWay.inBounds) return;
    const AsyncCopy& copy = underWay.copy;
    const unsigned char* const there = copy.store ? copy.from : copy.to;
    SharedAccess shared;
    shared.pc = underWay.pc;
    shared.offset = reinterpret_cast<uintptr_t>(there) - sharedBegin_;
    shared.size = static_cast<uint32_t>(copy.size);
    shared.step = underWay.step;
    shared.rank = static_cast<uint16_t>(rank);
    shared.isAsync = true;
    shared.barrier = underWay.barrier;
    if (copy.store) {
        shadow_->touch(shared, races_);
    } else {
        shared.kind = AccessKind::Store;
        copied_.resize(copy.size);
        copy.carryOut(copied_.data());
        shadow_->touchAsync(shared, copied_.data(), races_);
    }
    if (!races_.empty()) reportRaces();
    if (!copy.store && copy.read > 0) globals_.copiesFrom(readOf(copy), underWay.pc, rank);
}

// The thread has met others.
void BlockChecker::meetsCopiesOf(unsigned rank) {
    Thread& thread = threads_[rank];
    for (CopyUnderWay& copy : thread.copies) {
        copy.step = std::min(copy.step, thread.steps);
        meets(copy, rank);
    }
}

// Of what the running thread does with the memory of its own copies before it has waited for them.
void BlockChecker::beforeOwnWait(const Access& access, uintptr_t pc, const char* what) {
    for (const CopyUnderWay& underWay : threads_[rank_].copies) {
        const Access write = writeOf(underWay.copy), read = readOf(underWay.copy);
        const bool isWritten = overlap(write.address, write.size, access.address, access.size);
        const bool isRead = overlap(read.address, read.size, access.address, access.size);
        if (!isWritten && (!isRead || access.kind == AccessKind::Load)) continue;
        const bool inShared = (isWritten ? write : read).space == Space::Shared;
        const Hazard hazard = inShared ? Hazard::Race : Hazard::GlobalRace;
        if (found_.again(hazard, underWay.pc, pc, true)) continue;
        Finding finding{
            hazard,
            raceKind(isWritten ? AccessKind::Store : AccessKind::Load, access.kind),
            {actOf(underWay.pc, rank_, verbFor(underWay.copy, inShared)), actOf(pc, rank_, what)},
            inShared ? variables_.nameOf(access.address - sharedBegin_, access.size) : ""};
        finding.withinWarps = true;
        found_.report(std::move(finding));
    }
}

// What threads have written there, the TMA need not see.
void BlockChecker::storesUnfenced(const Access& read, uintptr_t pc, unsigned rank) {
    const auto write = shadow_->unfenced(read.address - sharedBegin_, read.size, rank);
    if (!write || found_.again(Hazard::BulkUnfenced, write->pc, pc, false)) return;
    found_.report(
        {Hazard::BulkUnfenced,
         "",
         {actOf(write->pc, write->rank, verb(AccessKind::Store)), actOf(pc, rank, kStoresInBulk)},
         variables_.nameOf(write->offset, kWordBytes)});
}

// ---- mbarriers

BlockChecker::MBarrier& BlockChecker::mbarrier(const void* object) {
    const auto found =
        std::find_if(mbarriers_.begin(), mbarriers_.end(),
                     [&](const MBarrier& barrier) { return barrier.object == object; });
    if (found != mbarriers_.end()) return *found;
    clocks_.begin();
    mbarriers_.push_back({object, {}, {}});
    return mbarriers_.back();
}

uint16_t BlockChecker::numberOf(const MBarrier& barrier) const {
    return static_cast<uint16_t>(
        clocks_.numberOf(static_cast<unsigned>(&barrier - mbarriers_.data())));
}

// The thread initialises the mbarrier, or uses it while another one may just be initialising it.
void BlockChecker::touchMBarrier(unsigned rank, const void* object, AccessKind kind) {
    SharedAccess use;
    use.pc = userPc(threads_[rank], threads_[rank].lastPc);
    use.offset = reinterpret_cast<uintptr_t>(object) - sharedBegin_;
    use.size = sizeof(uint64_t);
    use.step = ++threads_[rank].steps;
    use.rank = static_cast<uint16_t>(rank);
    use.kind = kind;
    shadow_->touch(use, races_);
    if (!races_.empty()) reportRaces();
}

void BlockChecker::mbarrierInitialised(unsigned rank, const void* barrier) {
    const Quiet quiet;
    settle();
    touchMBarrier(rank, barrier, AccessKind::Store);
    mbarrier(barrier);
}

void BlockChecker::mbarrierArrived(unsigned rank, const void* barrier) {
    const Quiet quiet;
    settle();
    touchMBarrier(rank, barrier, AccessKind::Atomic);
    clocks_.arrives(rank, &mbarrier(barrier).arrived);
    meetsCopiesOf(rank);
}

void BlockChecker::mbarrierWaited(unsigned rank, const void* barrier) {
    const Quiet quiet;
    settle();
    touchMBarrier(rank, barrier, AccessKind::Atomic);
    clocks_.waited(rank, mbarrier(barrier).completed);
}

void BlockChecker::mbarrierCompleted(const void* barrier) {
    const Quiet quiet;
    settle();
    MBarrier& ended = mbarrier(barrier);
    clocks_.copiesEnd(numberOf(ended), &ended.arrived);
    ended.completed = ended.arrived;
}

// The writes that were announced have been carried out.
void BlockChecker::settle() {
    if (unsettledPc_ == 0) return;
    unsettledPc_ = 0;
    shadow_->settle(races_);
    if (!races_.empty()) reportRaces();
    globals_.settle();
}

// Some thread's atomic follows such a read, as in `if (x > *most) atomicMax(most, x);`: what others
// read there is as good.
bool BlockChecker::readsBeforeOwnAtomic(const Race& race) {
    const bool firstReads = race.first.kind == AccessKind::Load;
    const SharedAccess& read = firstReads ? race.first : race.second;
    const SharedAccess& other = firstReads ? race.second : race.first;
    if (read.kind != AccessKind::Load || other.kind != AccessKind::Atomic) return false;
    if (looks_.count(read.pc) == 0) return false;
    shadow_->oldLooks.insert(read.pc);
    return true;
}

void BlockChecker::reportRaces() {
    for (const Race& race : races_) {
        if (readsBeforeOwnAtomic(race)) continue;
        const bool withinWarp = race.first.rank / kWarpSize == race.second.rank / kWarpSize;
        const bool isVolatile = race.first.isVolatile && race.second.isVolatile;
        const Hazard hazard = isVolatile ? Hazard::VolatileRace : Hazard::Race;
        if (found_.again(hazard, race.first.pc, race.second.pc, withinWarp)) {
            continue;
        }
        Finding finding{hazard,
                        isVolatile ? "volatile does not order the lanes of a warp"
                                   : raceKind(race.first.kind, race.second.kind),
                        {actOf(race.first.pc, race.first.rank, verbFor(race.first)),
                         actOf(race.second.pc, race.second.rank, verbFor(race.second))},
                        variables_.nameOf(race.second.offset, race.second.size)};
        finding.withinWarps = withinWarp;
        finding.looked = race.first.looked || race.second.looked;
        found_.report(std::move(finding));
    }
    races_.clear();
}

// Reads of what nobody had written. What was written later, before the next barrier, was a race.
void BlockChecker::confirmUninitialised() {
    for (const Uninitialised& read : uninitialised_) {
        if (!shadow_->neverWritten(read.offset, read.size) ||
            !variables_.unwritten(read.offset, read.size)) {
            continue;
        }
        reportUninitialised(read);
    }
    uninitialised_.clear();
}

void BlockChecker::reportUninitialised(const Uninitialised& read) {
    found_.report({Hazard::Uninitialised,
                   "",
                   {actOf(read.pc, read.rank, verb(read.kind))},
                   variables_.nameOf(read.offset, read.size)});
}

// ---- other memory

// None of it, or not all of it, is memory of a GPU.
bool BlockChecker::isStray(const Access& access) {
    if (access.space != Space::Global) return access.space == Space::Other;
    Space lastByte;
    return access.size > 1 && memoryMap.classify(access.address + access.size - 1, &lastByte) &&
           lastByte == Space::Other;
}

void BlockChecker::strayAccess(const Access& access, uintptr_t pc) {
    for (const Hazard hazard :
         {Hazard::DeviceBounds, Hazard::FreedMemory, Hazard::FreedHeap, Hazard::HostMemory}) {
        if (found_.again(hazard, pc, 0, false)) return;
    }
    const auto near = guardedAround(reinterpret_cast<const void*>(access.address));
    if (!near) {
        // (Where nothing is, the engine's handler of the fault calls failed().)
        if (!isReadable(access.address) || isOfHostAllocator(access.address)) return;
        found_.report({Hazard::HostMemory,
                       "none that a kernel may use",
                       {actOf(pc, rank_, verb(access.kind))},
                       nameOfHostMemory(access.address, access.size)});
        return;
    }
    const auto base = reinterpret_cast<uintptr_t>(near->base);
    const std::string allocation = nameOf(*near);
    std::string about, where;
    if (near->freed) {
        about = allocation + " has been freed";
    } else if (access.address < base) {
        about = bytes(base - access.address) + " before the start of " + allocation;
    } else {
        about = bytes(access.address + access.size - (base + near->size)) + " beyond the end of " +
                allocation;
        if ((access.address - base) % access.size == 0 && near->size >= access.size) {
            where = "element " + number((access.address - base) / access.size) + " of " +
                    number(near->size / access.size) + " (of " + bytes(access.size) + " each)";
        }
    }
    const Hazard afterFree = near->owner == Owner::Kernel ? Hazard::FreedHeap : Hazard::FreedMemory;
    found_.report({near->freed ? afterFree : Hazard::DeviceBounds,
                   about,
                   {actOf(pc, rank_, verb(access.kind))},
                   where});
}

uintptr_t BlockChecker::functionOf(uintptr_t pc) {
    KnownPc& entry = knownPcs_[pc / 4 % knownPcs_.size()];
    if (entry.pc != pc) entry = {pc, functionAround(pc - 1)};
    return entry.function;
}

uintptr_t BlockChecker::userPc(const Thread& thread, uintptr_t pc) {
    if (isUserCode(pc)) return pc;
    for (auto caller = thread.callers.rbegin(); caller != thread.callers.rend(); ++caller) {
        if (isUserCode(*caller)) return *caller;
    }
    return pc;
}

uintptr_t BlockChecker::kernelPc(const Thread& thread) {
    for (const uintptr_t caller : thread.callers) {
        if (functionOf(caller) == kernelFunction_) return caller;
    }
    return thread.lastPc;
}

}  // namespace emu
