// For programs whose threads run in the order of a schedule, where neither the profiler nor the
// hazard check looks on.
#pragma once

namespace emu {

// Sees to it that the hooks know the thread that runs, and nothing else.
void startOnlooker();

}  // namespace emu
