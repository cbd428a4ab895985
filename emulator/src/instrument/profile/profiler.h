// Counts what the warps of each kernel launch do, and writes it as ncu does; also by line.
#pragma once

#include <string>

namespace emu {

// Watches all launches from now on. When the program ends, the file `totals` gets the counts of
// each launch, and the file `lines` those of each line. Either may be null.
void startProfiler(const char* totals, const char* lines);

}  // namespace emu
