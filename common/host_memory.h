#pragma once
// How much memory there is for this process, on the machine or in the container around it. The one
// place that knows, for the cpu back end and for common/.

#include <cstddef>
#include <string>

namespace host {

struct Memory {
    std::size_t total;      // bytes
    std::size_t available;  // bytes that can still be used now, swap left out
};

// Of the machine, or of the tightest control group that the process is in. `root` is for tests: a
// folder in place of /.
Memory memory(const std::string& root = "/");

// Bytes of addresses that the process may still take (ulimit -v); SIZE_MAX where there is no limit.
std::size_t addressesLeft();

}  // namespace host
