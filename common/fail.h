#pragma once
// How a program of the lab ends when it cannot go on.

#include <string>

namespace lab {

enum ExitStatus {
    kExitOk = 0,
    kExitFailure = 1,   // a wrong result or a failure
    kExitBadUsage = 2,  // a wrong command line
    kExitNoGpu = 77,    // ctest and automake read 77 as "skipped"
};

// The program's name in messages, instead of that of its file.
void setProgramName(const std::string& name);
const char* programName();

// The options that say how large everything is, "--size=1T --block=64": what is too large names
// them.
void setSizes(const std::string& options);
const char* sizes();  // "--size=1T --block=64: ", or "" where none is known

// Prints one line on stderr, "name: ...", and ends the program. Whatever somebody has typed may
// stand in it: it stays one line.
[[noreturn, gnu::format(printf, 2, 3)]] void quit(ExitStatus status, const char* format, ...);

// The same where something is too large: "name: --size=1T: ...; choose a smaller size".
[[noreturn, gnu::format(printf, 1, 2)]] void quitTooLarge(const char* format, ...);

}  // namespace lab
