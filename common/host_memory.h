#pragma once
// How much memory there is for this process, on the machine or in the container around it. The one
// place that knows, for the cpu back end and for common/.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace host {

struct Memory {
    std::size_t total;      // bytes
    std::size_t available;  // bytes that can still be used now, swap left out
};

// For tests: what memory() says in place of what it finds.
inline const Memory* pretended = nullptr;

namespace detail {

inline std::size_t pageSize() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// The number behind `key` in a file of lines like "key number ..."; empty if there is none.
inline std::optional<std::size_t> valueIn(const std::string& file, const std::string& key) {
    std::ifstream stream(file);
    std::string word, rest;
    for (std::size_t value = 0; stream >> word >> value; std::getline(stream, rest)) {
        if (word == key) return value;
    }
    return std::nullopt;
}

// The number that a file begins with; empty if there is none ("max").
inline std::optional<std::size_t> numberIn(const std::string& file) {
    std::size_t value = 0;
    std::ifstream stream(file);
    return stream >> value ? std::make_optional(value) : std::nullopt;
}

inline Memory ofMachine(const std::string& root) {
    const std::string file = root + "proc/meminfo";
    const std::size_t physical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * pageSize();
    const std::optional<std::size_t> total = valueIn(file, "MemTotal:");
    const std::optional<std::size_t> available = valueIn(file, "MemAvailable:");
    Memory memory{total ? *total * 1024 : physical, 0};
    memory.available = available ? *available * 1024 : memory.total;
    return memory;
}

// The files of a version of control groups.
struct Version {
    std::string folder;  // where its hierarchy is mounted
    const char *limit, *usage, *inactive, *active;
};

// Narrows `memory` to what a group leaves; the page cache it gives up when needed.
inline void narrow(Memory& memory, const Version& version, const std::string& group) {
    const std::string folder = version.folder + group + "/";
    const std::optional<std::size_t> limit = numberIn(folder + version.limit);
    if (!limit) return;
    const std::string statistics = folder + "memory.stat";
    const std::size_t cache = valueIn(statistics, version.inactive).value_or(0) +
                              valueIn(statistics, version.active).value_or(0);
    const std::size_t usage = numberIn(folder + version.usage).value_or(0);
    const std::size_t used = std::min(*limit, usage - std::min(usage, cache));
    memory.total = std::min(memory.total, *limit);
    memory.available = std::min(memory.available, *limit - used);
}

// The same for a group and all around it. A container may see its own group as the outermost, and
// still be told its path on the machine: what is not there is passed over.
inline void narrowUpwards(Memory& memory, const Version& version, std::string group) {
    for (;; group.resize(group.rfind('/'))) {
        if (group == "/") group.clear();
        narrow(memory, version, group);
        if (group.find('/') == std::string::npos) return;
    }
}

inline bool isOneOf(const std::string& list, const std::string& word) {
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

}  // namespace detail

// Of the machine, or of the tightest control group that the process is in. `root` is for tests: a
// folder in place of /.
inline Memory memory(const std::string& root = "/") {
    if (pretended != nullptr) return *pretended;
    const std::string folder = root + "sys/fs/cgroup";
    const detail::Version first = {folder + "/memory", "memory.limit_in_bytes",
                                   "memory.usage_in_bytes", "total_inactive_file",
                                   "total_active_file"};
    const detail::Version second = {folder, "memory.max", "memory.current", "inactive_file",
                                    "active_file"};

    Memory memory = detail::ofMachine(root);
    std::ifstream groups(root + "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // number:controllers:path
        const std::size_t one = line.find(':'), two = line.find(':', one + 1);
        if (one == std::string::npos || two == std::string::npos) continue;
        const std::string controllers = line.substr(one + 1, two - one - 1);
        const std::string path = line.substr(two + 1);
        if (controllers.empty()) detail::narrowUpwards(memory, second, path);
        if (detail::isOneOf(controllers, "memory")) detail::narrowUpwards(memory, first, path);
    }
    return memory;
}

// Bytes of addresses that the process may still take (ulimit -v); SIZE_MAX where there is no limit.
inline std::size_t addressesLeft() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    const std::size_t most = limit.rlim_cur;
    const std::size_t taken = detail::numberIn("/proc/self/statm").value_or(0) * detail::pageSize();
    return most - std::min(most, taken);
}

}  // namespace host
