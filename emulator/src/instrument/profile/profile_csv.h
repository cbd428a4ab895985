// The file that the profiler writes: CSV with the columns and the metrics' names of
// `ncu --csv --page raw`.
#pragma once

#include <string>
#include <vector>

#include "counts.h"
#include "engine/scheduler.h"

namespace emu {

// A kernel's name with its parameters, as ncu writes it; `launched`, as the launch has it, where
// the function is not known.
std::string nameInNcu(const void* function, const std::string& launched);

class ProfileCsv {
  public:
    explicit ProfileCsv(std::string path) : path_(std::move(path)) {}
    ~ProfileCsv();  // writes the file, and says on stderr if that fails
    void add(const Grid& grid, const LaunchCounts& counts);

  private:
    std::string path_;
    std::vector<std::string> rows_;
};

}  // namespace emu
