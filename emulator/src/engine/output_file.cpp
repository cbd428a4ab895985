#include "output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emu {
namespace {

// 0, or the errno of the step that failed.
int write(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return errno;
    int error = 0;
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = errno;
    if (std::fclose(file) != 0 && error == 0) error = errno;
    return error;
}

}  // namespace

const char* outputPath(const char* variable) {
    const char* const path = std::getenv(variable);
    return path != nullptr && *path != '\0' ? path : nullptr;
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"') result += c;  // is doubled
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + "\"";
}

void writeOutput(const std::string& path, const std::string& text, const char* what,
                 const char* variable) {
    struct stat there = {};
    const bool direct = lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
    int error = 0;
    if (direct) {
        error = write(path, text);
    } else {
        const std::string beside = path + "." + std::to_string(getpid()) + ".tmp";
        error = write(beside, text);
        if (error == 0 && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
        if (error != 0) std::remove(beside.c_str());
    }
    if (error != 0) {
        std::fprintf(stderr, "emulator: cannot write the %s to %s (%s): %s\n", what, path.c_str(),
                     variable, std::strerror(error));
    }
}

}  // namespace emu
