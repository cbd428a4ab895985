#include "async_copies.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "call_site.h"
#include "emu/engine.h"
#include "emu/limits.h"
#include "messages.h"
#include "program_symbols.h"
#include "scheduler.h"
#include "watcher.h"

namespace emu {
namespace {

// NVIDIA's header takes a higher `prior` for this.
constexpr size_t kMostPrior = 8;

bool isIn(const void* address, const void* begin, size_t size) {
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin) < size;
}

bool isLocal(const void* address) {
    const Fiber* fiber = currentFiber();
    return isIn(address, fiber->stackBottom, fiber->stackSize);
}

unsigned long beyond(const void* address, size_t alignment) {
    return reinterpret_cast<uintptr_t>(address) % alignment;
}

constexpr size_t kBulkUnit = 16;  // bytes: sizes and addresses of bulk copies are multiples

// What of it a GPU refuses; empty if nothing.
std::string wrongSizes(const AsyncCopy& copy) {
    if (copy.bulk) {
        if (copy.size % kBulkUnit == 0) return {};
        return format("%zu bytes: the size of a bulk copy must be a multiple of 16", copy.size);
    }
    if (copy.size != 4 && copy.size != 8 && copy.size != 16) {
        return format("size_and_align is %zu: it must be 4, 8 or 16", copy.size);
    }
    if (copy.read > copy.size) return "zfill is more than size_and_align";
    return {};
}

std::string wrongAddresses(const AsyncCopy& copy) {
    if (copy.store) {
        if (!isShared(copy.from)) return "the source does not point into shared memory";
        if (isShared(copy.to) || isLocal(copy.to)) return "the target is not in global memory";
        return {};
    }
    if (!isShared(copy.to)) return "dst_shared does not point into shared memory";
    if (isShared(copy.from)) return "src_global points into shared memory, not global memory";
    if (isLocal(copy.from)) return "src_global points to a local variable, not global memory";
    return {};
}

std::string misaligned(const AsyncCopy& copy) {
    const size_t unit = copy.bulk ? kBulkUnit : copy.size;
    for (const bool source : {false, true}) {
        const void* address = source ? copy.from : copy.to;
        if (beyond(address, unit) == 0) continue;
        return format("misaligned address: %s is %lu beyond a multiple of %zu%s",
                      source ? "src_global" : "dst_shared", beyond(address, unit), unit,
                      copy.bulk ? "" : ", the size of the copy");
    }
    return {};
}

}  // namespace

void AsyncCopy::carryOut(unsigned char* bytes) const {
    if (read > 0) std::memcpy(bytes, from, read);
    std::memset(bytes + read, 0, size - read);
}

bool isShared(const void* address) {
    thread_local const Variable shared = threadLocals();
    return isIn(address, shared.base, shared.size);
}

void AsyncCopies::beginBlock() {
    if (begun_ == 0) return;
    begun_ = 0;
    for (OfThread& thread : threads_) {
        thread.copies.clear();
        thread.groups = thread.storeGroups = 0;
    }
}

void AsyncCopies::begin(unsigned rank, AsyncCopy copy, const char* what, const char* file,
                        int line) {
    const CallSite site{what, file, line};
    const auto refuse = [&](cudaError_t error, std::string&& why) {
        if (why.empty()) return;
        why.insert(0, text(site) + ": ");
        failKernel(error, std::move(why));  // which owns all that there is
    };
    refuse(cudaErrorLaunchFailure, wrongSizes(copy));
    refuse(cudaErrorIllegalAddress, wrongAddresses(copy));
    refuse(cudaErrorMisalignedAddress, misaligned(copy));
    threads_.resize(kMaxThreadsPerBlock);
    OfThread& thread = threads_[rank];
    copy.group = copy.store ? thread.storeGroups : thread.groups;
    copy.number = begun_++;
    thread.copies.push_back(copy);
    if (watcher != nullptr) watcher->asyncCopyBegins(rank, copy);
}

void AsyncCopies::commit(unsigned rank) {
    if (begun_ > 0) ++threads_[rank].groups;
}

void AsyncCopies::commitStores(unsigned rank) {
    if (begun_ > 0) ++threads_[rank].storeGroups;
}

void AsyncCopies::wait(unsigned rank, size_t prior) {
    if (begun_ == 0) return;
    const uint64_t groups = threads_[rank].groups;
    const uint64_t end = groups - std::min<uint64_t>(groups, std::min(prior, kMostPrior));
    carryOut(rank, [&](const AsyncCopy& copy) { return !copy.bulk && copy.group < end; });
}

void AsyncCopies::waitForStores(unsigned rank, size_t prior) {
    if (begun_ == 0) return;
    const uint64_t groups = threads_[rank].storeGroups;
    const uint64_t end = groups - std::min<uint64_t>(groups, prior);
    carryOut(rank, [&](const AsyncCopy& copy) { return copy.store && copy.group < end; });
}

void AsyncCopies::bind(unsigned rank, const void* barrier) {
    if (begun_ == 0) return;
    for (AsyncCopy& copy : threads_[rank].copies) {
        if (copy.bulk || copy.barrier != nullptr) continue;
        copy.barrier = barrier;
        if (watcher != nullptr) watcher->asyncCopyBound(rank, copy);
    }
}

void AsyncCopies::completes(const void* barrier) {
    for (unsigned rank = 0; begun_ > 0 && rank < threads_.size(); ++rank) {
        carryOut(rank, [&](const AsyncCopy& copy) { return copy.barrier == barrier; });
    }
}

void AsyncCopies::blockEnds() {
    if (begun_ == 0) return;
    for (unsigned rank = 0; rank < threads_.size(); ++rank) {
        if (threads_[rank].copies.empty()) continue;
        threadIdx = {rank % blockDim.x, rank / blockDim.x % blockDim.y,
                     rank / blockDim.x / blockDim.y};  // for the message of a failure
        carryOut(rank, [](const AsyncCopy&) { return true; });
    }
}

template <typename Which>
void AsyncCopies::carryOut(unsigned rank, Which which) {
    std::vector<AsyncCopy>& copies = threads_[rank].copies;
    for (const AsyncCopy& copy : copies) {
        if (!which(copy)) continue;
        if (watcher != nullptr) watcher->asyncCopyEnds(rank, copy);
        copy.carryOut();
    }
    copies.erase(std::remove_if(copies.begin(), copies.end(), which), copies.end());
}

}  // namespace emu
