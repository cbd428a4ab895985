#include "fail.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "format.h"

namespace lab {
namespace {

struct Context {
    std::string program, sizes;
};

Context& context() {
    static Context* const all = new Context;  // lives as long as any thread
    return *all;
}

}  // namespace

void setProgramName(const std::string& name) {
    context().program = name;
}

const char* programName() {
    const std::string& name = context().program;
    return name.empty() ? program_invocation_short_name : name.c_str();
}

void setSizes(const std::string& options) {
    context().sizes = options.empty() ? "" : options + ": ";
}

const char* sizes() {
    return context().sizes.c_str();
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

void quitTooLarge(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string message = vformatted(format, arguments);
    va_end(arguments);
    quit(kExitFailure, "%s%s; choose a smaller size", sizes(), message.c_str());
}

}  // namespace lab
