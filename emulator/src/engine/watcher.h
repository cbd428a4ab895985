// What watches CUDA threads while they run: the profiler or the hazard check, in programs that were
// compiled for them (instrument/ has both). Ordinary programs have none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "async_copies.h"
#include "emu/kernel_arguments.h"
#include "scheduler.h"
#include "textures.h"

namespace emu {

// A stream of the host. Streams are known by a number, and so are events and executable graphs:
// none is given out twice, as an address may be.
struct StreamSeen {
    uint64_t number;
    bool legacy;    // stream 0: it waits for all blocking streams, and they for it
    bool blocking;  // this is one
};

// Bytes of memory: `depth` slices of `height` rows of `width` bytes, and the distances between
// these in bytes.
struct BytesSeen {
    uintptr_t first;
    size_t width, height, depth;
    size_t pitch, slice;
    bool byName = false;  // in a copy to or from a variable that is given by its name
};

// A copy that the host asks for.
struct CopySeen {
    size_t bytes;
    bool fromHost, toHost;
    bool asynchronous;  // the call may return before it is done
    bool pageable;      // memory of the host takes part that is not page-locked
};

class Watcher {
  public:
    virtual ~Watcher() = default;

    // Around all blocks of a launch, on one OS thread.
    virtual void gridBegins(const Grid& grid) = 0;
    virtual void gridEnded(const Grid& grid) = 0;

    // The grid has been running for so long, and this thread is at `pc` of the user's code (0:
    // nobody knows). Comes from an OS thread of its own.
    virtual void gridStillRuns(double /*seconds*/, uint3 /*block*/, uint3 /*thread*/,
                               uintptr_t /*pc*/) {}

    // The rest comes from the OS thread that runs a block. A thread's `rank` is its number in the
    // block, x fastest.

    virtual void blockBegins(const Grid& grid) = 0;
    // All threads have ended, or the kernel has failed (completed == false).
    virtual void blockEnded(bool completed) = 0;

    // What this OS thread does from now on, it does for this CUDA thread.
    virtual void threadRuns(unsigned rank) = 0;
    // The running thread lets others run. `waits`: it goes on only when they have done something.
    virtual void threadPauses(unsigned rank, bool waits) = 0;
    virtual void threadEnded(unsigned rank) = 0;

    // The running thread enters the kernel's function, and leaves it.
    virtual void kernelBegins(unsigned rank) = 0;
    virtual void kernelEnds(unsigned rank) = 0;

    // The running thread arrives at a barrier of the block.
    virtual void barrierReached(unsigned rank, const CallSite& site) = 0;
    // All threads of the block that have not ended are there, and go on. `wholeGrid`: those of all
    // other blocks, too.
    virtual void barrierReleased(const CallSite& site, bool wholeGrid) = 0;
    // The lanes `mask` of a warp have met in a warp function; __syncwarp() and the like also order
    // their memory accesses.
    virtual void warpMet(unsigned warp, unsigned mask, bool ordersMemory) = 0;

    // The running thread is the first of its block at the declaration of this __shared__ variable.
    virtual void sharedReached(const void* /*variable*/, size_t /*size*/) {}

    // The running thread begins to copy from or to shared memory (async_copies.h); or an mbarrier
    // waits for the copy from now on. And a copy is carried out, maybe by another thread.
    virtual void asyncCopyBegins(unsigned /*rank*/, const AsyncCopy&) {}
    virtual void asyncCopyBound(unsigned /*rank*/, const AsyncCopy&) {}
    virtual void asyncCopyEnds(unsigned /*rank*/, const AsyncCopy&) {}

    // The running thread initialises an mbarrier, or arrives at it. A phase ends. And a thread,
    // maybe another one, has waited for that.
    virtual void mbarrierInitialised(unsigned /*rank*/, const void* /*barrier*/) {}
    virtual void mbarrierArrived(unsigned /*rank*/, const void* /*barrier*/) {}
    virtual void mbarrierWaited(unsigned /*rank*/, const void* /*barrier*/) {}
    virtual void mbarrierCompleted(const void* /*barrier*/) {}

    // The running thread has read texels of a texture, or is about to read or write a surface.
    virtual void texelsAccessed(unsigned /*rank*/, const TexelAccess&) {}

    // The running thread launches a grid, which may begin before its own ends unless it is a
    // `tail`.
    virtual void childLaunched(const Grid& /*child*/, bool /*tail*/) {}
    // It, or the host, is about to launch a kernel with these arguments.
    virtual void argumentsGiven(const std::string& /*kernel*/, const KernelArgument*,
                                size_t /*count*/) {}

    // The lanes in `mask` of a warp have met in one shuffle.
    virtual void shuffleMeets(unsigned /*warp*/, unsigned /*mask*/) {}

    // In a shuffle a thread asks for the value of a lane of its warp that is not `inMask`, or else
    // has ended or is not in the block. Returns whether it gets another value than its own, as
    // undefined as that.
    virtual bool shuffleFromNobody(unsigned /*rank*/, unsigned /*lane*/, bool /*inMask*/,
                                   const CallSite& /*site*/) {
        return false;
    }

    // The running thread was given this memory by malloc() or new.
    virtual void kernelAllocated(const void* /*memory*/, size_t /*bytes*/) {}
    // It calls free() or delete, and will go on at `pc`.
    virtual void kernelFrees(uintptr_t /*pc*/) {}

    // It has printed a text of so many bytes.
    virtual void kernelPrinted(size_t /*bytes*/) {}

    // The kernel ends with an error, at what the running thread did last.
    virtual void failed(Failure, const std::string& /*message*/) {}

    // The running thread, or the host, has called something that returned an error, and does not
    // keep that. The second text says why, as far as that is known.
    virtual void callFailed(const std::string& /*what*/, const std::string& /*why*/) {}
    // It asks for the last error.
    virtual void errorRead() {}

    // What the host does comes from the OS thread that does it.

    // Work of this stream comes next: grids, copies, the record of an event.
    virtual void streamRuns(const StreamSeen&) {}
    // Such work is this executable graph, and begins now or has been done; it waits for the one
    // before of the same executable. Of its nodes, this one comes next.
    virtual void graphRuns(uint64_t /*executable*/, bool /*now*/) {}
    virtual void graphNodeRuns(const void* /*node*/, const std::vector<const void*>& /*after*/) {}
    virtual void eventRecorded(uint64_t /*event*/) {}
    virtual void streamWaits(const StreamSeen&, uint64_t /*event*/) {}
    // This OS thread runs a host function in stream order, or has done so.
    virtual void hostFunctionRuns(bool /*now*/) {}
    // The host has waited for the device, for a stream, for an event.
    virtual void hostWaited() {}
    virtual void hostWaitedForStream(const StreamSeen&) {}
    virtual void hostWaitedForEvent(uint64_t /*event*/) {}
    // An asynchronous copy from the device to memory of the host that is not page-locked returns:
    // then it is done, and so is what came before it in the stream.
    virtual void copyReturns(const StreamSeen&, const BytesSeen& /*written*/) {}
    // The host asks for the time between these events.
    virtual void elapsedTimeRead(uint64_t /*start*/, uint64_t /*end*/) {}
    // It reads a clock of its own; `pc` is behind the call.
    virtual void clockRead(uintptr_t /*pc*/) {}
    // The host allocates memory, and keeps the pointer at `variable`; it frees it, registers its
    // own; a call that frees is given a pointer that it refuses.
    virtual void memoryAllocated(const void* /*base*/, size_t /*bytes*/, const void* /*variable*/) {
    }
    virtual void memoryFreed(const void* /*base*/, size_t /*bytes*/) {}
    virtual void memoryRegistered(const void* /*base*/, size_t /*bytes*/) {}
    virtual void freeRefused(const void* /*pointer*/) {}
    // The host is told the device's address of a variable.
    virtual void symbolAddressGiven(const void* /*symbol*/) {}
    // A call is about to give the host a pointer, in this place.
    virtual void pointerStored(void** /*where*/) {}
    // It calls for a copy.
    virtual void copyCalled(const CopySeen&) {}
    // A copy is about to be carried out; a fill, if it reads nothing.
    virtual void transferRuns(const BytesSeen* /*read*/, const BytesSeen& /*written*/) {}
    // What it has just told of is a fill that sets each byte to this value.
    virtual void bytesFilled(const BytesSeen& /*written*/, unsigned /*value*/) {}
    // A copy reads `bytes` bytes of device memory from `memory` on, none of which was written.
    virtual void unwrittenCopied(const void* /*memory*/, size_t /*bytes*/) {}
    // A copy is about to bring bytes from `from` to the host's memory at `to`. `unwritten` is what
    // unwrittenBits() says of them.
    virtual void copiedToHost(const void* /*to*/, const void* /*from*/, size_t /*bytes*/,
                              const std::vector<uint8_t>& /*unwritten*/) {}
    // The program dies of a signal, `why` says of which. Whether the heap works is not known.
    virtual void programDies(const std::string& /*why*/, uintptr_t /*pc*/) {}
    // As in emu/writer.h.
    virtual std::string writerOf(const void* /*value*/, size_t /*bytes*/) { return ""; }
    // The instruction at `pc`, of the host, cannot reach `address`. Returns true if it can now.
    virtual bool hostFault(uintptr_t /*address*/, uintptr_t /*pc*/, bool /*writes*/) {
        return false;
    }
};

// nullptr where nobody watches. Set before the first launch, and nullptr again at the program's
// end.
extern Watcher* watcher;

}  // namespace emu
