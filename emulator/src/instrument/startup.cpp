// Starts the profiler or the hazard check before main(), if the environment asks for one.
#include "engine/output_file.h"
#include "instrument/hazards/checker.h"
#include "instrument/profile/profiler.h"

namespace emu {
namespace {

// The value is the file to write: CSV as of `ncu --csv --page raw`, or the report. Before the
// constructors of the program's own variables, so that it ends after their destructors.
[[gnu::constructor(101)]] void startWatching() {
    if (const char* path = outputPath("CUDA_EMULATOR_PROFILE")) {
        startProfiler(path);
    } else if (const char* path = outputPath("CUDA_EMULATOR_CHECK")) {
        startChecker(path);
    }
}

}  // namespace
}  // namespace emu
