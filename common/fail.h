#pragma once
// How a program of the lab ends when it cannot go on.

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "format.h"

namespace lab {

enum ExitStatus {
    kExitOk = 0,
    kExitFailure = 1,   // a wrong result or a failure
    kExitBadUsage = 2,  // a wrong command line
    kExitNoGpu = 77,    // ctest and automake read 77 as "skipped"
};

// What messages say of the program.
struct Named {
    std::string program = program_invocation_short_name;
    std::string sizes;  // the options that say how large everything is, "--size=1T --block=64"
};
inline Named& named() {
    static Named* const all = new Named;  // lives as long as any thread
    return *all;
}

// Prints one line on stderr, "name: ...", and ends the program. Whatever somebody has typed may
// stand in it: it stays one line.
[[noreturn, gnu::format(printf, 2, 3)]] inline void quit(ExitStatus status, const char* format,
                                                         ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string message = inOneLine(vformatted(format, arguments));
    va_end(arguments);
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", named().program.c_str(), message.c_str());
    std::exit(status);
}

// The same where something is too large: "name: --size=1T: ...; choose a smaller size".
[[noreturn]] inline void quitTooLarge(const std::string& what) {
    const std::string& sizes = named().sizes;
    quit(kExitFailure, "%s%s%s; choose a smaller size", sizes.c_str(), sizes.empty() ? "" : ": ",
         what.c_str());
}

}  // namespace lab
