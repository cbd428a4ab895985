#include "capacity.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace emu {
namespace {

size_t physicalMemory() {
    return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// The number behind `key` in a file of lines like "key number ..."; empty if there is none.
std::optional<size_t> valueIn(const std::string& file, const std::string& key) {
    std::ifstream stream(file);
    std::string word, rest;
    for (size_t value = 0; stream >> word >> value; std::getline(stream, rest)) {
        if (word == key) return value;
    }
    return std::nullopt;
}

// The number that is all of a file; empty if there is none ("max").
std::optional<size_t> numberIn(const std::string& file) {
    size_t value = 0;
    std::ifstream stream(file);
    return stream >> value ? std::make_optional(value) : std::nullopt;
}

// What the host can give without swapping [bytes].
size_t availableMemory() {
    const std::optional<size_t> kilobytes = valueIn("/proc/meminfo", "MemAvailable:");
    return kilobytes ? *kilobytes * 1024 : physicalMemory();
}

// What a control group uses [bytes], without the page cache, which it gives up when needed.
size_t usedByGroup(const std::string& folder, const char* usageFile) {
    const size_t used = numberIn(folder + usageFile).value_or(0);
    const size_t cache = valueIn(folder + "memory.stat", "inactive_file").value_or(0) +
                         valueIn(folder + "memory.stat", "active_file").value_or(0);
    return used - std::min(used, cache);
}

}  // namespace

const Capacity& capacity() {
    static const Capacity result = [] {
        Capacity memory{physicalMemory(), availableMemory()};
        const struct {
            const char *folder, *limit, *usage;
        } groups[] = {
            {"/sys/fs/cgroup/", "memory.max", "memory.current"},
            {"/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes"},
        };
        for (const auto& group : groups) {
            const std::string folder = group.folder;
            const size_t limit = numberIn(folder + group.limit).value_or(SIZE_MAX);
            if (limit >= memory.total) continue;
            const size_t used = std::min(limit, usedByGroup(folder, group.usage));
            memory.total = limit;
            memory.free = std::min(memory.free, limit - used);
        }
        return memory;
    }();
    return result;
}

}  // namespace emu
