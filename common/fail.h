#pragma once
// How a program of the lab ends when it cannot go on.

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "format.h"

namespace lab {

enum ExitStatus {
    kExitOk = 0,
    kExitFailure = 1,   // a wrong result or a CUDA error
    kExitBadUsage = 2,  // a wrong command line
    kExitNoGpu = 77,    // ctest and automake read 77 as "skipped"
};

// Prints one line on stderr and ends the program.
[[noreturn, gnu::format(printf, 2, 3)]] inline void quit(ExitStatus status, const char* format,
                                                         ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string message = vformatted(format, arguments);
    va_end(arguments);
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(status);
}

}  // namespace lab
