#pragma once
// The command line of issueOrder.

#include <cstddef>
#include <string>
#include <vector>

#include "lab.cuh"
#include "numberList.h"
#include "queueModel.h"

// What is asked for. Ends the program if that is not possible.
class IssueOptions {
  public:
    std::vector<std::size_t> connections;  // numbers of hardware queues
    std::vector<std::size_t> ofStream;     // the number of kernels of each stream
    IssueOrder given;                      // --order, if it is there
    unsigned microseconds;                 // that a kernel takes
    std::string timeline;                  // the name of a file, if it is there

    // Parses the command line; selects no device.
    IssueOptions(lab::Exercise& exercise, int argc, char** argv) : exercise_(exercise) {
        exercise.option("streams", &streams_, 4, 1, kMostStreams, "streams");
        exercise.option("depth", &depth_, 3, 1, kMostDepth, "kernels of each stream");
        exercise.option("microseconds", &microseconds, {500, 50}, 1, 1000000,
                        "how long a kernel runs");
        const std::string numbers =
            lab::formatted("numbers from 1 to %zu with commas between them", kMostConnections);
        exercise.options().text("connections", &connections_, "LIST", numbers,
                                "hardware queues: " + numbers);
        const std::string streams =
            lab::formatted("numbers from 0 to %zu with commas between them, at most %zu",
                           kMostStreams - 1, kMostKernels);
        exercise.options().text("order", &order_, "LIST", streams,
                                "the stream of each kernel, in place of --streams and --depth");
        exercise.options().file("timeline", &timeline, "CSV of when each kernel began and ended");
        exercise.parseOptions(argc, argv);

        connections = numberList(connections_, 1, kMostConnections, kMostConnections);
        if (connections.empty())
            exercise.reject("--connections=" + connections_ + ": expected " + numbers);
        if (exercise.profile() && !exercise.given("connections")) connections.resize(1);
        if (hasOrder()) {
            given = numberList(order_, 0, kMostStreams - 1, kMostKernels);
            requireStreams(streams);
        }
        ofStream = hasOrder() ? depths(given) : std::vector<std::size_t>(streams_, depth_);
    }
    IssueOptions(const IssueOptions&) = delete;
    IssueOptions& operator=(const IssueOptions&) = delete;

    bool hasOrder() const { return exercise_.given("order"); }

    unsigned long long nanoseconds() const { return 1000ull * microseconds; }

    // The options of a row with so many queues.
    std::string parameters(std::size_t queues) const {
        lab::Options::Values values = {{"connections", std::to_string(queues)}};
        if (hasOrder()) values.insert(values.end(), {{"streams", ""}, {"depth", ""}});
        return exercise_.parameters(values);
    }

  private:
    static constexpr std::size_t kMostConnections = 32, kMostStreams = 32, kMostDepth = 16,
                                 kMostKernels = kMostStreams * kMostDepth;

    // Is --order a list of `streams`, without a gap, and does it stand alone?
    void requireStreams(const std::string& streams) const {
        if (given.empty()) exercise_.reject("--order=" + order_ + ": expected " + streams);
        const std::vector<std::size_t> kernels = depths(given);
        for (std::size_t s = 0; s < kernels.size(); ++s) {
            if (kernels[s] == 0)
                exercise_.reject(lab::formatted("--order=%s: expected a kernel of stream %zu, too",
                                                order_.c_str(), s));
        }
        for (const char* other : {"streams", "depth"}) {
            if (exercise_.given(other))
                exercise_.reject(lab::formatted("--%s: expected no --order beside it", other));
        }
    }

    const lab::Exercise& exercise_;
    std::size_t streams_, depth_;
    std::string connections_ = "1,2,8,32", order_;
};
