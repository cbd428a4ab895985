#include "fail.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "format.h"

namespace lab {

void quit(ExitStatus status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string message = vformatted(format, arguments);
    va_end(arguments);
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(status);
}

}  // namespace lab
