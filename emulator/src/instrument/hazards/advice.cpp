#include "advice.h"

#include <algorithm>

#include "access_text.h"

namespace emu {
namespace {

bool acts(const Finding& finding, const char* what) {
    return std::any_of(finding.acts.begin(), finding.acts.end(),
                       [&](const Act& act) { return act.what == what; });
}

// The first access is an asynchronous copy's.
bool beginsWithCopy(const Finding& finding) {
    const std::string& first = finding.acts[0].what;
    return first == kCopiesThere || first == kCopiesFromThere;
}

bool ofOneThread(const Finding& finding) {
    const uint3 &a = finding.acts[0].thread, &b = finding.acts[1].thread;
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

constexpr const char* kWriteAfterWrite = "write after write";

// Threads read the place, too, which they change.
bool updates(const Finding& finding) {
    return finding.kinds.count(kWriteAfterWrite) > 0 && finding.kinds.size() > 1;
}

Advice manyWriteOnePlace(const char* who) {
    return {
        "",
        std::string(who) + " write different values to one place: which of them stays is chance",
        "let one of them write, or use an atomic such as atomicAdd()"};
}

constexpr const char* kUseAtomic = "use an atomic such as atomicAdd()";
constexpr const char* kFencesOfLock =
    "a lock or flag orders them only with a __threadfence() where it is taken or seen, and one "
    "before it is given up or set";

Advice updatesAreLost(const char* who) {
    return {"",
            std::string(who) +
                " read, change and write the same place: an update that comes between "
                "another's read and write is lost",
            std::string(kUseAtomic) + ", or sum up first and let one thread add"};
}

// Of threads of one block.
Advice barrierOrAtomics(const Finding& finding, bool sameLine) {
    if (finding.acts[1].what == kStoresInBulk) {
        return {"", "the TMA reads what threads may not have written yet",
                "put a __syncthreads() between these lines, behind a fence_proxy_async() of each "
                "thread that writes"};
    }
    if (acts(finding, kStoresInBulk)) {
        return {"", "the TMA may read until the wait of the thread that began the store",
                "let that thread call cp_async_bulk_wait_group_read(), and put a __syncthreads() "
                "behind it"};
    }
    if (finding.acts[0].what == kCopiesForBarrier) {
        return {"",
                "the copy is complete for a thread that has waited for the end of the barrier's "
                "phase",
                "let each thread wait at the barrier before it uses the memory"};
    }
    if (acts(finding, kCopiesForBarrier)) {
        return {"", "the copy may begin before the others are done with the memory",
                "let the thread that begins the copy wait for the others first: at a barrier at "
                "which they arrive behind their last use"};
    }
    if (ofOneThread(finding)) {
        return {"", "the copy is complete only after the thread's own __pipeline_wait_prior()",
                "wait for the copy before the second line"};
    }
    const bool besideLock = finding.looked && !acts(finding, verb(AccessKind::Atomic));
    if (sameLine && updates(finding) && !besideLock) return updatesAreLost("several threads");
    if (sameLine && finding.about == kWriteAfterWrite) return manyWriteOnePlace("several threads");
    if (beginsWithCopy(finding)) {
        return {"",
                "the copy is complete after a __pipeline_wait_prior() of its own thread, and for "
                "other threads after a __syncthreads() that follows",
                "put both between these lines"};
    }
    Advice advice;
    advice.why = finding.withinWarps
                     ? "nothing orders the two lanes: since Volta a warp need not run in step"
                     : "nothing orders the two threads: a block's threads run in any order between "
                       "two barriers";
    const char* barrier =
        finding.withinWarps ? "__syncwarp() or __syncthreads()" : "__syncthreads()";
    advice.fix = std::string("put a ") + barrier + " between " +
                 (sameLine ? "what the threads do on this line" : "these lines");
    if (acts(finding, verb(AccessKind::Atomic))) {
        advice.fix += ", or make both accesses atomic";
    } else if (acts(finding, verb(AccessKind::Load)) && !finding.withinWarps) {
        advice.fix += ", or read from one array and write to another";
    }
    if (besideLock) {
        advice.why = kFencesOfLock;
        advice.fix =
            "add these fences, or " + (updates(finding) ? std::string(kUseAtomic) : advice.fix);
    }
    return advice;
}

// Of threads of different blocks.
Advice launchOrAtomics(const Finding& finding, bool sameLine) {
    const bool besideLock = finding.looked && !acts(finding, verb(AccessKind::Atomic));
    if (sameLine && updates(finding) && !besideLock) return updatesAreLost("several blocks");
    if (sameLine && finding.about == kWriteAfterWrite) return manyWriteOnePlace("several blocks");
    Advice advice{"", "nothing orders the blocks of a grid",
                  "use a launch for each of the two steps, or atomics"};
    if (besideLock) {
        advice.why += std::string("; ") + kFencesOfLock;
        advice.fix = "add these fences, or " + advice.fix;
    }
    return advice;
}

Advice onRace(const char* title, const Finding& finding, bool sameLine) {
    if (finding.about == kNarrowScope) {
        return {title, "it is atomic among the threads of one block alone",
                "give it the scope of the device: cuda::thread_scope_device"};
    }
    const bool sameBlock = finding.acts[0].who.empty();
    Advice advice =
        sameBlock ? barrierOrAtomics(finding, sameLine) : launchOrAtomics(finding, sameLine);
    advice.title = title;
    if (acts(finding, verb(AccessKind::Atomic)) && acts(finding, verb(AccessKind::Load))) {
        advice.fix += "; where an old value does no harm, read it through a volatile pointer";
    }
    return advice;
}

Advice onRefused(const Finding& finding) {
    if (finding.acts.size() > 1) {
        return {"error that nobody looked at", "the memory is not one that this call can free",
                "free each allocation once, with the pointer that it gave, by its own function: "
                "cudaFree() after cudaMalloc(), cudaFreeHost() after cudaMallocHost()"};
    }
    return {"error that nobody looked at", "the program goes on as if the call had worked",
            "check what the call returns; after a launch, what cudaGetLastError() returns"};
}

}  // namespace

Advice adviceOn(const Finding& finding, bool sameLine) {
    switch (finding.hazard) {
        case Hazard::Race:
            return onRace("race in shared memory", finding, sameLine);
        case Hazard::GlobalRace:
            return onRace("race in global memory", finding, sameLine);
        case Hazard::VolatileRace:
        case Hazard::GlobalVolatileRace:
            return {finding.hazard == Hazard::VolatileRace ? "race in shared memory"
                                                           : "race in global memory",
                    "since Volta the lanes of a warp need not run in step",
                    "put a __syncwarp() between what one lane writes and another reads"};
        case Hazard::StreamRace:
            return {"race between streams", "nothing orders the two streams",
                    "let one wait for an event of the other (cudaStreamWaitEvent()), or let the "
                    "host wait for the first"};
        case Hazard::ChildRace:
            return {"race between parent and child",
                    "a child sees what its thread did before the launch, and its block before a "
                    "__syncthreads() before that; everything else may run beside it",
                    "launch what comes later with cudaStreamTailLaunch"};
        case Hazard::StaleTexture:
            return {"texture or surface read of what the same kernel has written",
                    "the cache of textures may hold what was there before, whatever orders the "
                    "two",
                    "read in the next launch, or read one array and write another"};
        case Hazard::ArrayBounds:
            return {
                "array index out of bounds",
                "a GPU gives no error, but uses what lies beside the array, such as its next row "
                "or another variable",
                "check the index"};
        case Hazard::SharedAlias:
            return {"two names for one shared memory",
                    "all extern __shared__ arrays of a kernel begin at the same address",
                    "let the second array begin behind the first (T* second = (T*)&first[n];), and "
                    "ask for the sum of both in the third argument of <<<...>>>"};
        case Hazard::SharedBounds:
            return {"shared memory out of bounds",
                    "on a GPU the access meets other memory of the block, or ends the kernel",
                    "check the index, and the size in the third argument of <<<...>>> if the array "
                    "is extern"};
        case Hazard::Uninitialised:
            return {"uninitialised shared memory",
                    "no thread of the block has written it: on a GPU it holds garbage",
                    "write it first, with a __syncthreads() behind that"};
        case Hazard::UninitialisedDevice:
            return {"uninitialised device memory",
                    "neither a copy, cudaMemset() nor a kernel has written it: on a GPU it holds "
                    "garbage",
                    finding.kernel.empty()
                        ? "let the grid cover all elements, and copy as many as were computed"
                        : "copy all of the input, or call cudaMemset(): check the sizes in bytes"};
        case Hazard::DeviceBounds:
            return {"device memory out of bounds",
                    "on a GPU the access meets another allocation, or ends the kernel",
                    "check the index against the number of elements"};
        case Hazard::FreedMemory:
            return {"device memory after cudaFree()",
                    "on a GPU the memory may be another allocation's by now",
                    "free it after the kernels that use it"};
        case Hazard::FreedHeap:
            return {"device memory after free() or delete",
                    "on a GPU the memory may be another allocation's by now",
                    "free it where no thread uses it any more, as behind a __syncthreads()"};
        case Hazard::HostMemory:
            return {
                "host memory", "on most systems the GPU cannot reach this address",
                "copy the data to memory from cudaMalloc(), and pass that, also in the pointers "
                "of structs"};
        case Hazard::Misaligned:
            return {"misaligned address", "a GPU ends the kernel with cudaErrorMisalignedAddress",
                    "use an address that is a multiple of the size"};
        case Hazard::Stack:
            return {
                "recursion with too little stack", "on a GPU the kernel ends with an error",
                "make room before the launch with cudaDeviceSetLimit(cudaLimitStackSize, bytes), "
                "or write a loop"};
        case Hazard::Printed:
            return {"more printed than the buffer for it holds",
                    "on a GPU the oldest lines are lost",
                    "print less, or make room before the first launch with "
                    "cudaDeviceSetLimit(cudaLimitPrintfFifoSize, bytes)"};
        case Hazard::ByteFill:
            return {
                "note: a number whose bytes cudaMemset() has set", "",
                "copy numbers from the host, or let a kernel write them; cudaMemset() is for 0, "
                "and for -1 of integers"};
        case Hazard::BulkUnfenced:
            return {
                "bulk store without a proxy fence",
                "the TMA need not see what threads have written to shared memory",
                "let each thread call fence_proxy_async(space_shared) behind its writes, before "
                "the barrier"};
        case Hazard::BulkUnwaited:
            return {"bulk store that nobody waits for",
                    "when the block ends, its shared memory may be another's before the TMA "
                    "has read it",
                    "call cp_async_bulk_wait_group_read() before the thread ends"};
        case Hazard::Barrier:
            return {"barrier in divergent code",
                    "all threads of a block must reach the same barrier",
                    "move it out of the condition or loop"};
        case Hazard::Shuffle:
            return {"note: shuffle from a lane that takes no part", "what it gets is undefined",
                    "let the lane take part, or do not use the value"};
        case Hazard::TwoPlaces:
            return {"note: lanes of a warp meet in one shuffle from two places",
                    "the lanes of both branches exchange values with one another",
                    "if they should not, give each branch the mask of its own lanes"};
        case Hazard::SumOrder:
            return {"note: sum that depends on the order of atomic additions",
                    "that order is not fixed: on a GPU the last digits may differ from run to run",
                    "compare such a sum with a tolerance and not with =="};
        case Hazard::Endless:
            return {
                "kernel that was still running at the end",
                "either the loop there never ends, or the kernel takes longer than it was given",
                "see how the loop there ends, and whether that can come true"};
        case Hazard::UsedShuffle:
            return {
                "shuffle from a lane that takes no part",
                "what it gets is undefined, and the program's result depends on it",
                "let the lane take part: launch whole warps, and name all their lanes in the mask"};
        case Hazard::Refused:
            return onRefused(finding);
        case Hazard::HostTouch:
            return {"device memory used by the host", "on a GPU the program crashes here",
                    "copy with cudaMemcpy() first"};
        case Hazard::ManagedTouch:
            return {"managed or page-locked memory used by the host before " + finding.acts[0].who +
                        " is known to have ended",
                    "the host gets old values, or spoils what the device still reads",
                    "call cudaDeviceSynchronize(), or wait for its stream, between the two lines"};
        case Hazard::SymbolTouch:
            return {"variable of the device used by the host",
                    "on a GPU the host has a copy of its own, which kernels neither see nor change",
                    acts(finding, verb(AccessKind::Load))
                        ? "get the value with cudaMemcpyFromSymbol()"
                        : "set the value with cudaMemcpyToSymbol()"};
        case Hazard::HostSymbol:
            if (acts(finding, kCopyByAddress)) {
                return {"the host's address of a variable of the device",
                        "on a GPU the call fails with cudaErrorInvalidValue",
                        "use cudaMemcpyToSymbol() or cudaMemcpyFromSymbol(), or the address that "
                        "cudaGetSymbolAddress() gives"};
            }
            return {"the host's address of a variable of the device",
                    "a kernel cannot use this address on a GPU",
                    "use the name in the kernel, or pass what cudaGetSymbolAddress() gives"};
        case Hazard::HostFunction:
            return {"the host's address of a function", "on a GPU a kernel cannot call it there",
                    "let a __device__ variable hold the function, and fetch its value with "
                    "cudaMemcpyFromSymbol()"};
        case Hazard::HostVirtual:
            return {"an object of the host with virtual functions",
                    "on a GPU a kernel cannot call them", "make the object in a kernel, with new"};
        case Hazard::LocalToChild:
            return {"local or shared memory given to a child kernel", "a child cannot reach it",
                    "pass global memory, such as from malloc() in the kernel, or the value itself"};
        case Hazard::NeverPrinted:
            return {"a kernel prints, and the program ends without waiting for it",
                    "on a GPU nothing is printed",
                    "call cudaDeviceSynchronize() before the program ends"};
        case Hazard::EarlyTime:
            return {"time of an event that nothing has waited for",
                    "on a GPU the call returns cudaErrorNotReady and no time",
                    "call cudaEventSynchronize() between the two lines"};
        case Hazard::EarlyClock:
            return {
                "note: the host's clock is read while the kernel may be running",
                "this is the time of the launch alone",
                "call cudaDeviceSynchronize() before the second reading, unless that is what you "
                "measure"};
        case Hazard::EarlyCopy:
            return {"note: an asynchronous copy is used, and nothing has waited for it",
                    "this works only as the host memory is pageable, so that the call returns when "
                    "the copy is done; with page-locked memory it is a race",
                    "call cudaStreamSynchronize() between the two lines"};
        case Hazard::Leak:
        case Hazard::MaybeLeak:
            return {finding.hazard == Hazard::Leak ? "memory that is never freed"
                                                   : "note: memory that is never freed",
                    "each was used for the last time before the next one was allocated",
                    "free it there, or allocate once and use that again"};
        case Hazard::Death:
            return {"the program died", "", ""};
        case Hazard::Failure:
            break;
    }
    if (finding.about == kNullPointer) {
        return {
            "kernel failed", "on a GPU the kernel ends with cudaErrorIllegalAddress",
            "see where the pointer comes from: whether what gave it has failed, or a function has "
            "set a copy of it alone"};
    }
    return {"kernel failed", "", ""};
}

bool isNote(const Finding& finding) {
    switch (finding.hazard) {
        case Hazard::ByteFill:
        case Hazard::Shuffle:
        case Hazard::TwoPlaces:
        case Hazard::SumOrder:
        case Hazard::EarlyClock:
        case Hazard::EarlyCopy:
        case Hazard::MaybeLeak:
            return true;
        default:
            return false;
    }
}

}  // namespace emu
