#pragma once
// The calculator at work: --calculate prints what it says, for any GPU and without one; and on the
// GPU that is there, what it says of a kernel is compared with what CUDA says.

#include <cuda_runtime.h>

#include <string>

#include "exercise.cuh"
#include "occupancyCalculator.h"

namespace occupancy {

class Report {
  public:
    // Declares the options.
    explicit Report(lab::Exercise& exercise) : exercise_(exercise) {
        exercise.options().flag(
            "calculate", &wanted_,
            "only say how many blocks fit on an SM, of any GPU and without one");
        exercise.options().text("capability", &capability_, "X.Y", "one of " + allCapabilities(),
                                "with --calculate: compute capability");
        exercise.option("threads", &block_.threads, 1, kMaxThreads,
                        "with --calculate: threads per block");
        exercise.option("registers", &block_.registers, 1, 255,
                        "with --calculate: registers per thread");
        exercise.option("shared", &block_.shared, 0, 227 * kKiB,
                        "with --calculate: bytes of shared memory per block");
    }

    // After the options are parsed.
    bool wanted() const {
        for (const char* option : {"capability", "threads", "registers", "shared"}) {
            if (!wanted_ && exercise_.options().given(option))
                exercise_.reject(std::string("--") + option +
                                 ": expected together with --calculate");
        }
        return wanted_;
    }

    // The block that was asked for, then others with as many registers and as much shared memory.
    // The check: so many blocks can be placed one after the other, and not one more. Returns the
    // exit status.
    int print() {
        const Limits* const sm = find(capability_);
        if (sm == nullptr) {
            exercise_.reject("--capability=" + capability_ + ": expected one of " +
                             allCapabilities());
        }
        exercise_.note(lab::formatted(
            "Compute capability %s: %u threads, %u registers per thread, %s of shared memory\n",
            nameOf(*sm).c_str(), block_.threads, block_.registers,
            lab::inBytes(block_.shared).c_str()));
        exercise_.note(explained(*sm, block_) + "\n");
        lab::Table table({{"", 0, "exercise"},
                          {"", 0, "capability"},
                          {"threads", 7, "threads"},
                          {"registers", 9, "registers"},
                          {"shared", 7, "shared"},
                          {"blocks", 6, "blocks"},
                          {"warps", 5, "warps"},
                          {"occupancy [%]", 13, "occupancy"},
                          {"limited by", -32, "limited_by"},
                          {"check", -5, "check"}},
                         exercise_.csv());
        if (!exercise_.selected("calculate")) return exercise_.finish();
        for (const unsigned threads :
             {block_.threads, 32u, 64u, 96u, 128u, 192u, 256u, 384u, 512u, 768u, 1024u}) {
            const Block block = {threads, block_.registers, block_.shared};
            const Occupancy result = calculate(*sm, block);
            const unsigned placed = countByPlacing(*sm, block);
            std::string wrong;
            if (placed != result.blocks) wrong = lab::formatted("%u blocks can be placed", placed);
            table.row({"occupancy", nameOf(*sm), threads, block.registers, block.shared,
                       result.blocks, result.warps, lab::Cell(result.percent, 1), result.limitedBy,
                       lab::verdict(wrong)});
            exercise_.report(std::to_string(threads) + " threads", wrong);
        }
        return exercise_.finish();
    }

  private:
    lab::Exercise& exercise_;
    bool wanted_ = false;
    std::string capability_ = "9.0";
    Block block_ = {256, 32, 0};
};

// Of a GPU that is there; ends the program if its capability is not known.
inline const Limits& limitsOf(const lab::DeviceFacts& device) {
    const Limits* const sm = find(lab::formatted("%d.%d", device.major, device.minor));
    if (sm == nullptr) {
        lab::quit(lab::kExitFailure,
                  "occupancy: no limits known for compute capability %d.%d: they belong into "
                  "occupancyCalculator.h",
                  device.major, device.minor);
    }
    return *sm;
}

inline cudaFuncAttributes attributesOf(const void* kernel) {
    cudaFuncAttributes attributes;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes;
}

// What a block of a kernel takes, if it is launched with so much dynamic shared memory.
inline Block blockOf(const cudaFuncAttributes& kernel, unsigned threads, std::size_t dynamic) {
    return {threads, static_cast<unsigned>(kernel.numRegs), kernel.sharedSizeBytes + dynamic};
}

// Lets a kernel without static shared memory have all there is: without asking, it is 48 KiB. Also
// gives shared memory its full size on the SM, so that the L1 cache, which has the rest of the same
// memory, is equally small however much a block takes.
inline void allowShared(const void* kernel, const Limits& sm) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sm.sharedPerBlock)));
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
}

// CUDA's own calculator.
inline unsigned blocksByCuda(const void* kernel, unsigned threads, std::size_t dynamic) {
    int blocks = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel,
                                                             static_cast<int>(threads), dynamic));
    return static_cast<unsigned>(blocks);
}

// What is wrong with the calculator, where CUDA says otherwise. `compared` becomes the number of
// configurations in which they agree on this kernel.
inline std::string compareWithCuda(const Limits& sm, const void* kernel, unsigned* compared) {
    const cudaFuncAttributes attributes = attributesOf(kernel);
    *compared = 0;
    for (int threads = 1; threads <= attributes.maxThreadsPerBlock; threads += 31) {
        for (const int kilobytes : {0, 1, 3, 8, 20, 40, 64, 96, 160, 227}) {
            const int dynamic = 1000 * kilobytes;  // in between the allocation units
            if (dynamic > attributes.maxDynamicSharedSizeBytes) break;
            const unsigned theirs = blocksByCuda(kernel, threads, dynamic);
            const Block block = blockOf(attributes, threads, dynamic);
            const unsigned ours = calculate(sm, block).blocks;
            if (ours != theirs) {
                return lab::formatted("%u blocks of %d threads with %zu bytes fit, CUDA says %u",
                                      ours, threads, block.shared, theirs);
            }
            ++*compared;
        }
    }
    return "";
}

}  // namespace occupancy
