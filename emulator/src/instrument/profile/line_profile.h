// The file of the counts by line: JSON, which scripts/lab_cli/lines/recorded.py reads. Addresses in
// it are those of the program's file, behind the call that each stands for.
//
//   program    path of the program
//   kernels    of each kernel with one grid, block and dynamic shared memory:
//     name, address, grid, block, launches, shared [bytes], blocks_per_sm
//     basic_blocks  [address, executions, lanes, splits, whether it ends with a condition]
//     accesses      the members of LineAccess (line_counts.h); strides: [bytes, requests], where
//                   null stands for irregular; addresses: null where there are more than are kept
//     memories      the members of LineMemory; parameter: of the kernel, that points into it, or
//     null samples       block, warp, steps: [lanes, address], or
//                   [lanes, address, access, memory, offsets]
//   host       calls by line: what, kernel, direction, calls, bytes, asynchronous, pageable,
//              after_launch, file, line (0: not known)
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "counts.h"
#include "engine/scheduler.h"
#include "engine/watcher.h"
#include "line_counts.h"

namespace emu {

class LineProfile {
  public:
    explicit LineProfile(std::string path) : path_(std::move(path)) {}
    ~LineProfile();  // writes the file, and says on stderr if that fails

    // Launches with this kernel, grid and block have been added. (Of a kernel whose template
    // arguments are deduced, nobody knows before it has run.)
    bool knows(const Grid& grid) const {
        return kernels_.count(keyOf(grid, reinterpret_cast<uintptr_t>(grid.call.id))) > 0;
    }
    // The arguments of the next launch of a kernel.
    void argumentsGiven(const std::string& kernel, const KernelArgument* arguments, size_t count);
    void add(const Grid& grid, const LaunchCounts& counts, LineCounts lines);

    // What the host does, from the OS thread that does it.
    void hostLaunches(const Grid& grid);
    void hostCopies(const CopySeen& copy);
    void hostWaits();

  private:
    using Key = std::tuple<uintptr_t, std::string, std::array<uint64_t, 7>>;
    struct Kernel {
        std::string name;
        uint64_t order = 0, launches = 0;
        uint64_t shared = 0;  // bytes of a block
        int blocksPerSm = 0;
        std::vector<uintptr_t> pointers;  // arguments of the first launch; 0: no pointer
        LaunchCounts counts;
        LineCounts lines;
    };
    struct HostCall {
        std::string what, kernel, direction;
        bool asynchronous, pageable;
        std::string file;
        int line;
        bool operator<(const HostCall& other) const;
    };
    struct Calls {
        uint64_t calls = 0, bytes = 0, afterLaunch = 0;
    };

    static Key keyOf(const Grid& grid, uintptr_t function);
    static std::string text(const Key& key, const Kernel& kernel);
    void hostCalls(HostCall call, uint64_t bytes, bool afterLaunch);

    std::string path_;
    std::map<Key, Kernel> kernels_;
    std::map<std::string, std::vector<uintptr_t>> given_;  // by the kernel's name in its launch
    std::mutex mutex_;                                     // of what the host does
    std::map<HostCall, Calls> host_;
    bool afterLaunch_ = false;  // the last call was a launch
    bool copyWaits_ = false;    // the next wait is that of a copy
};

}  // namespace emu
