// Starts the profiler or the hazard check before main(), and another order of threads, as the
// environment asks.
#include <cstddef>

#include "engine/output_file.h"
#include "engine/schedule.h"
#include "instrument/hazards/checker.h"
#include "instrument/profile/profiler.h"
#include "instrument/record/onlooker.h"

namespace emu {
namespace {

// Where a kernel writes behind its __shared__ arrays: the linker puts thread-local variables into
// the order of the objects, the program's own first, and this library's before the engine's. So the
// check lives to report it.
constexpr size_t kGuard = 16 << 10;
[[gnu::used]] __thread unsigned char guardBehindShared[kGuard];

// The value is the file to write: CSV as of `ncu --csv --page raw`, counts by line, or the report.
// Before the constructors of the program's own variables, so that it ends after their destructors.
[[gnu::constructor(101)]] void startWatching() {
    const char* const totals = outputPath("CUDA_EMULATOR_PROFILE");
    const char* const lines = outputPath("CUDA_EMULATOR_LINES");
    if (totals != nullptr || lines != nullptr) {
        startProfiler(totals, lines);
        return;  // counts are those of the usual order
    }
    startSchedule();
    if (const char* path = outputPath("CUDA_EMULATOR_CHECK")) {
        startChecker(path);
    } else if (schedule != nullptr) {
        startOnlooker();
    }
}

}  // namespace
}  // namespace emu
