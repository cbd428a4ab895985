#pragma once
// Kernels of several streams on their way through the hardware queues of a GPU: in which order a
// program issues them, and when each begins and ends.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

// The stream of each kernel, in the order in which they are issued.
using IssueOrder = std::vector<std::size_t>;

// How many kernels each stream has.
inline std::vector<std::size_t> depths(const IssueOrder& order) {
    std::vector<std::size_t> kernels;
    for (const std::size_t stream : order) {
        kernels.resize(std::max(kernels.size(), stream + 1));
        ++kernels[stream];
    }
    return kernels;
}

// All kernels of stream 0, then all of stream 1 ...
inline IssueOrder depthFirst(const std::vector<std::size_t>& depths) {
    IssueOrder order;
    for (std::size_t s = 0; s < depths.size(); ++s) order.insert(order.end(), depths[s], s);
    return order;
}

// The first kernel of each stream, then the second of each ...
inline IssueOrder breadthFirst(const std::vector<std::size_t>& depths) {
    IssueOrder order;
    const std::size_t kernels = depthFirst(depths).size();
    for (std::size_t level = 0; order.size() < kernels; ++level) {
        for (std::size_t s = 0; s < depths.size(); ++s) {
            if (level < depths[s]) order.push_back(s);
        }
    }
    return order;
}

// Time goes in turns: what a block takes. A kernel runs from the beginning of turn `begin` to that
// of turn `end`.
struct Turns {
    std::size_t begin = 0, end = 0;
};

// When kernels of `blocks` blocks run that are issued in this order, on a GPU with room for `room`
// blocks at a time. A queue hands out its kernels in the order of issue; its first one waits until
// the kernel before it in its stream has ended, and all behind it wait as well, whatever their
// stream. Blocks take the room that there is in the order in which their kernels left the queues.
// Stream s goes through queue s % queues. (CUDA's driver lets about as many of the streams that
// have work share each queue; which ones, it does not say.)
inline std::vector<Turns> predictedTurns(const IssueOrder& order, std::size_t queues,
                                         std::size_t blocks, std::size_t room) {
    struct Waiting {
        std::size_t kernel, blocks;
    };
    std::vector<std::deque<std::size_t>> queue(queues);
    for (std::size_t k = 0; k < order.size(); ++k) queue[order[k] % queues].push_back(k);
    const std::size_t streams = depths(order).size();
    std::vector<std::size_t> freeFrom(streams);  // the turn in which the stream's next may begin
    constexpr auto kRunning = static_cast<std::size_t>(-1);
    std::vector<Turns> turns(order.size());
    std::deque<Waiting> waiting;  // out of their queues, with blocks that have not begun

    std::size_t ended = 0;
    for (std::size_t turn = 0; ended < order.size(); ++turn) {
        for (bool any = true; any;) {  // each queue in its turn
            any = false;
            for (std::deque<std::size_t>& kernels : queue) {
                if (kernels.empty() || freeFrom[order[kernels.front()]] > turn) continue;
                freeFrom[order[kernels.front()]] = kRunning;
                waiting.push_back({kernels.front(), blocks});
                kernels.pop_front();
                any = true;
            }
        }
        for (std::size_t free = room; free > 0 && !waiting.empty();) {
            Waiting& first = waiting.front();
            if (first.blocks == blocks) turns[first.kernel].begin = turn;
            const std::size_t placed = std::min(free, first.blocks);
            free -= placed;
            first.blocks -= placed;
            if (first.blocks > 0) continue;
            turns[first.kernel].end = turn + 1;
            freeFrom[order[first.kernel]] = turn + 1;
            ++ended;
            waiting.pop_front();
        }
    }
    return turns;
}

// The turns that all of them take.
inline std::size_t makespan(const std::vector<Turns>& kernels) {
    std::size_t end = 0;
    for (const Turns& kernel : kernels) end = std::max(end, kernel.end);
    return end;
}
