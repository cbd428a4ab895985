// Counts what the warps of each kernel launch do, and writes it as ncu does.
#pragma once

#include <string>

namespace emu {

// Watches all launches from now on; `path` gets the counts when the program ends.
void startProfiler(const std::string& path);

}  // namespace emu
