#pragma once
// What issueOrder runs, and what is left of a run: in the process that runs it, and in the one that
// prints it.

#include <cstddef>
#include <string>
#include <vector>

#include "../kernelSpans.h"
#include "format.h"
#include "output_file.cuh"
#include "queueModel.h"
#include "span.cuh"
#include "statistics.h"

inline constexpr unsigned kBlock = 64;

// How the kernels of a row are issued, and how much of the GPU each of them takes.
struct Plan {
    std::string name;
    IssueOrder order;
    bool regular;  // which streams share a queue makes no difference, if about as many share each
    bool hostThreads = false;
    std::string takes = "";
    std::size_t blocks = 0;
};

// How much of the GPU a kernel takes: what it is called, and in blocks.
struct Share {
    const char* name;
    std::size_t blocks;
};

// All plans with kernels that take the first share, then all with the second ...
inline std::vector<Plan> withShares(const std::vector<Plan>& plans,
                                    const std::vector<Share>& shares) {
    std::vector<Plan> all;
    for (const Share& share : shares) {
        for (Plan plan : plans) {
            plan.takes = share.name;
            plan.blocks = share.blocks;
            all.push_back(plan);
        }
    }
    return all;
}

// What a run of a plan leaves: `spans` of the blocks, kernels in the order of their streams.
struct Ran {
    explicit Ran(const Plan& plan)
        : spans(plan.order.size() * plan.blocks),
          chains(depths(plan.order).size() * plan.blocks * kBlock) {}
    lab::Statistics time{};
    std::vector<lab::Span> spans;
    std::vector<unsigned> chains;
};

// Calls `part` for each piece of its memory: on both sides, to send it and to receive it.
template <typename Transfer>
void transfer(Ran& ran, const Transfer& part) {
    part(&ran.time, sizeof(ran.time));
    part(ran.spans.data(), ran.spans.size() * sizeof(lab::Span));
    part(ran.chains.data(), ran.chains.size() * sizeof(unsigned));
}

// A CSV line for each kernel of a run.
inline const std::vector<std::string> kTimelineColumns = {
    "run",    "mode",   "connections", "takes",  "kernels",
    "stream", "kernel", "begin_ms",    "end_ms", "sms"};

inline void addToTimeline(lab::CsvFile& timeline, const Plan& plan, std::size_t connections,
                          const Ran& ran) {
    const std::string run = lab::formatted("%s, %zu connection%s", plan.name.c_str(), connections,
                                           connections == 1 ? "" : "s");
    const std::vector<KernelSpan> kernels = spansOfKernels(ran.spans, plan.blocks);
    const IssueOrder streamOf = depthFirst(depths(plan.order));
    const lab::SinceFirst milliseconds(kernels);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        timeline.row({run, plan.name, connections, plan.takes, kernels.size(), streamOf[k], k,
                      milliseconds(kernels[k].begin), milliseconds(kernels[k].end),
                      kernels[k].sms});
    }
}
