#pragma once
// When the kernels of several streams ran: streamConcurrency, issueOrder.

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "format.h"
#include "span.cuh"

// From the begin of a kernel's first block to the end of its last one, and the SMs that it ran on.
struct KernelSpan {
    unsigned long long begin, end;
    std::size_t sms;
};

// `spans` are those of the blocks, `blocks` of them for each kernel.
inline std::vector<KernelSpan> spansOfKernels(const std::vector<lab::Span>& spans,
                                              std::size_t blocks) {
    std::vector<KernelSpan> kernels;
    for (auto first = spans.begin(); first != spans.end(); first += blocks) {
        KernelSpan kernel = {first->begin, first->end, 0};
        std::set<unsigned> sms;
        for (auto block = first; block != first + blocks; ++block) {
            kernel.begin = std::min(kernel.begin, block->begin);
            kernel.end = std::max(kernel.end, block->end);
            sms.insert(block->sm);
        }
        kernel.sms = sms.size();
        kernels.push_back(kernel);
    }
    return kernels;
}

// What is wrong with the times of a run, kernel k being in stream `streamOf[k]`, and behind those
// of this stream with smaller numbers. Overlap is not a matter of right or wrong: CUDA allows it,
// and promises nothing but the order within a stream.
inline std::string wrongTimes(const std::vector<lab::Span>& spans, std::size_t blocks,
                              unsigned long long nanoseconds,
                              const std::vector<std::size_t>& streamOf) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (!lab::stayedFor(spans[i], nanoseconds)) {
            return lab::formatted("block %zu of kernel %zu did not stay for %llu ns", i % blocks,
                                  i / blocks, nanoseconds);
        }
    }
    const std::vector<KernelSpan> kernels = spansOfKernels(spans, blocks);
    std::map<std::size_t, std::size_t> last;  // kernel of each stream
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const auto before = last.find(streamOf[k]);
        if (before != last.end() && kernels[k].begin < kernels[before->second].end) {
            return lab::formatted("kernel %zu began before kernel %zu of its stream had ended", k,
                                  before->second);
        }
        last[streamOf[k]] = k;
    }
    return "";
}

// The same of kernels that take turns: kernel k is in stream k % streams.
inline std::string wrongTimes(const std::vector<lab::Span>& spans, std::size_t blocks,
                              unsigned long long nanoseconds, std::size_t streams) {
    std::vector<std::size_t> streamOf(spans.size() / blocks);
    for (std::size_t k = 0; k < streamOf.size(); ++k) streamOf[k] = k % streams;
    return wrongTimes(spans, blocks, nanoseconds, streamOf);
}
