#pragma once
// How a program of the lab ends when it cannot go on.

namespace lab {

enum ExitStatus {
    kExitOk = 0,
    kExitFailure = 1,   // a wrong result or a CUDA error
    kExitBadUsage = 2,  // a wrong command line
    kExitNoGpu = 77,    // ctest and automake read 77 as "skipped"
};

// Prints one line on stderr and ends the program.
[[noreturn, gnu::format(printf, 2, 3)]] void quit(ExitStatus status, const char* format, ...);

}  // namespace lab
