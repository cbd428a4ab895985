// The hazard check: races in shared memory, accesses out of bounds, barriers in divergent code.
#pragma once

#include <string>

namespace emu {

// Watches all launches from now on; `path` gets the report when the program ends.
void startChecker(const std::string& path);

}  // namespace emu
