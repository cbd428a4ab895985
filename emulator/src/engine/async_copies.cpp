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

// Of the block that runs on this OS thread.
bool isShared(const void* address) {
    thread_local const Variable shared = threadLocals();
    return isIn(address, shared.base, shared.size);
}

bool isLocal(const void* address) {
    const Fiber* fiber = currentFiber();
    return isIn(address, fiber->stackBottom, fiber->stackSize);
}

unsigned long beyond(const void* address, size_t alignment) {
    return reinterpret_cast<uintptr_t>(address) % alignment;
}

// What of it a GPU refuses; empty if nothing.
std::string wrongSizes(const AsyncCopy& copy) {
    if (copy.size != 4 && copy.size != 8 && copy.size != 16) {
        return format("size_and_align is %zu: it must be 4, 8 or 16", copy.size);
    }
    if (copy.read > copy.size) return "zfill is more than size_and_align";
    return {};
}

std::string wrongAddresses(const AsyncCopy& copy) {
    if (!isShared(copy.to)) return "dst_shared does not point into shared memory";
    if (isShared(copy.from)) return "src_global points into shared memory, not global memory";
    if (isLocal(copy.from)) return "src_global points to a local variable, not global memory";
    return {};
}

std::string misaligned(const AsyncCopy& copy) {
    for (const bool source : {false, true}) {
        const void* address = source ? copy.from : copy.to;
        if (beyond(address, copy.size) == 0) continue;
        return format(
            "misaligned address: %s is %lu beyond a multiple of %zu, the size of the copy",
            source ? "src_global" : "dst_shared", beyond(address, copy.size), copy.size);
    }
    return {};
}

}  // namespace

void AsyncCopy::carryOut(unsigned char* bytes) const {
    if (read > 0) std::memcpy(bytes, from, read);
    std::memset(bytes + read, 0, size - read);
}

void AsyncCopies::beginBlock() {
    if (!used_) return;
    used_ = false;
    for (OfThread& thread : threads_) {
        thread.copies.clear();
        thread.groups = 0;
    }
}

void AsyncCopies::begin(unsigned rank, AsyncCopy copy, const char* file, int line) {
    const CallSite site{"__pipeline_memcpy_async()", file, line};
    const auto refuse = [&](cudaError_t error, std::string&& why) {
        if (why.empty()) return;
        why.insert(0, text(site) + ": ");
        failKernel(error, std::move(why));  // which owns all that there is
    };
    refuse(cudaErrorLaunchFailure, wrongSizes(copy));
    refuse(cudaErrorIllegalAddress, wrongAddresses(copy));
    refuse(cudaErrorMisalignedAddress, misaligned(copy));
    threads_.resize(kMaxThreadsPerBlock);
    used_ = true;
    OfThread& thread = threads_[rank];
    copy.group = thread.groups;
    thread.copies.push_back(copy);
    if (watcher != nullptr) watcher->asyncCopyBegins(rank, copy);
}

void AsyncCopies::commit(unsigned rank) {
    if (used_) ++threads_[rank].groups;
}

void AsyncCopies::wait(unsigned rank, size_t prior) {
    if (!used_) return;
    const uint64_t groups = threads_[rank].groups;
    carryOut(rank, groups - std::min<uint64_t>(groups, std::min(prior, kMostPrior)));
}

void AsyncCopies::blockEnds() {
    if (!used_) return;
    for (unsigned rank = 0; rank < threads_.size(); ++rank) {
        if (threads_[rank].copies.empty()) continue;
        threadIdx = {rank % blockDim.x, rank / blockDim.x % blockDim.y,
                     rank / blockDim.x / blockDim.y};  // for the message of a failure
        carryOut(rank, UINT64_MAX);
    }
}

// Those of the groups before `endGroup`.
void AsyncCopies::carryOut(unsigned rank, uint64_t endGroup) {
    std::vector<AsyncCopy>& copies = threads_[rank].copies;
    auto copy = copies.begin();
    for (; copy != copies.end() && copy->group < endGroup; ++copy) {
        if (watcher != nullptr) watcher->asyncCopyEnds(rank);
        copy->carryOut();
    }
    copies.erase(copies.begin(), copy);
}

}  // namespace emu
