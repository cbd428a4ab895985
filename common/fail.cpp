#include "fail.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "format.h"

namespace lab {
namespace {

std::string& ownName() {
    static std::string* const name = new std::string;  // lives as long as any thread
    return *name;
}

}  // namespace

void setProgramName(const std::string& name) {
    ownName() = name;
}

const char* programName() {
    return ownName().empty() ? program_invocation_short_name : ownName().c_str();
}

void quit(ExitStatus status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string message = vformatted(format, arguments);
    va_end(arguments);
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", programName(), inOneLine(message).c_str());
    std::exit(status);
}

}  // namespace lab
