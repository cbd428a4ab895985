#pragma once
// What the command line of issueOrder comes to.

#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"
#include "numberList.h"
#include "queueModel.h"

inline constexpr std::size_t kMostConnections = 32, kMostStreams = 32, kMostDepth = 16,
                             kMostKernels = kMostStreams * kMostDepth;

// What --connections and --order take, for messages.
inline std::string takenByConnections() {
    return lab::formatted("numbers from 1 to %zu with commas between them", kMostConnections);
}
inline std::string takenByOrder() {
    return lab::formatted("numbers from 0 to %zu with commas between them, at most %zu",
                          kMostStreams - 1, kMostKernels);
}

struct IssueOptions {
    // As they are given.
    std::size_t streams, depth;
    unsigned microseconds;
    // On a GPU each takes a process of its own.
    std::string connectionsText = lab::kEmulated ? "1,2,8,32" : "1,8", orderText, timeline;

    // What they mean: see understand().
    std::vector<std::size_t> connections;
    bool hasOrder = false;
    IssueOrder order;
    std::vector<std::size_t> ofStream;  // the number of kernels of each stream

    unsigned long long nanoseconds() const { return 1000ull * microseconds; }

    // After the command line is parsed. Ends the program where it makes no sense.
    void understand(const lab::Exercise& exercise) {
        connections = numberList(connectionsText, 1, kMostConnections, kMostConnections);
        if (connections.empty())
            exercise.reject("connections", connectionsText, takenByConnections());
        if (exercise.profile() && !exercise.given("connections")) connections.resize(1);
        hasOrder = exercise.given("order");
        if (hasOrder) {
            order = numberList(orderText, 0, kMostStreams - 1, kMostKernels);
            requireOrder(exercise);
        }
        ofStream = hasOrder ? depths(order) : std::vector<std::size_t>(streams, depth);
    }

    // Those of a row with so many queues.
    std::string parameters(const lab::Exercise& exercise, std::size_t queues) const {
        lab::Options::Values values = {{"connections", std::to_string(queues)}};
        if (hasOrder) values.insert(values.end(), {{"streams", ""}, {"depth", ""}});
        return exercise.parameters(values);
    }

  private:
    // Has --order a kernel of each stream, and does it stand alone?
    void requireOrder(const lab::Exercise& exercise) const {
        if (order.empty()) exercise.reject("order", orderText, takenByOrder());
        const std::vector<std::size_t> kernels = depths(order);
        for (std::size_t s = 0; s < kernels.size(); ++s) {
            if (kernels[s] == 0)
                exercise.reject("order", orderText,
                                "a kernel of stream " + std::to_string(s) + ", too");
        }
        for (const char* other : {"streams", "depth"}) {
            if (exercise.given(other))
                exercise.reject(lab::formatted("--%s: expected no --order beside it", other));
        }
    }
};
