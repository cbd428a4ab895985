#pragma once
// What issueOrder runs, and what is left of a run: in the process that runs it, and in the one that
// prints it.

#include <cstddef>
#include <string>
#include <vector>

#include "csv_file.cuh"
#include "format.h"
#include "kernelSpans.h"
#include "queueModel.h"
#include "since_first.cuh"
#include "span.cuh"
#include "statistics.h"

inline constexpr unsigned kBlock = 64;

// How the kernels of a row are issued, and how much of the GPU each of them takes.
struct Plan {
    const char* name;
    IssueOrder order;
    bool regular;  // streams of the same depth
    bool hostThreads = false;
    const char* takes = "";
    std::size_t blocks = 0;
};

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

// A line for each kernel of a run.
inline void addToTimeline(lab::CsvFile& timeline, const Plan& plan, std::size_t connections,
                          const Ran& ran) {
    const std::string run =
        lab::formatted("%s, %zu connection%s", plan.name, connections, connections == 1 ? "" : "s");
    const std::vector<KernelSpan> kernels = spansOfKernels(ran.spans, plan.blocks);
    const IssueOrder streamOf = depthFirst(depths(plan.order));
    const lab::SinceFirst milliseconds(kernels);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        timeline.row({run, plan.name, connections, plan.takes, kernels.size(), streamOf[k], k,
                      milliseconds(kernels[k].begin), milliseconds(kernels[k].end),
                      kernels[k].sms});
    }
}
