#include "output_file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

namespace emu {
namespace {

// The variables whose files could not be written when that was last tried.
struct Lost {
    std::mutex mutex;
    std::set<std::string> variables;
};

Lost& lost() {
    static Lost& instance = *new Lost;  // used by static destructors
    return instance;
}

// Ends a program that has lost a file, and would end well, with status 1. (In glibc, exit() goes on
// with what is left to do where it is called by such a function.)
void failAtExit(int status, void*) {
    if (status == 0 && !lost().variables.empty()) std::exit(1);
}

// While it exists, a file that may not grow or a pipe that nobody reads is an error, and does not
// kill the process.
class SignalsIgnored {
  public:
    SignalsIgnored() {
        for (Ignored& one : ignored_) one.before = signal(one.number, SIG_IGN);
    }
    ~SignalsIgnored() {
        for (const Ignored& one : ignored_) signal(one.number, one.before);
    }

  private:
    struct Ignored {
        int number;
        void (*before)(int);
    };
    Ignored ignored_[2] = {{SIGXFSZ, nullptr}, {SIGPIPE, nullptr}};
};

// 0, or the errno of the step that failed.
int write(const std::string& path, const std::string& text) {
    const SignalsIgnored ignored;
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
    if (path == nullptr || *path == '\0') return nullptr;
    // glibc's atexit() that tells the status. It comes before that of whoever writes: runs after
    // it.
    static const int registered = on_exit(failAtExit, nullptr);
    static_cast<void>(registered);
    return path;
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
    const std::lock_guard<std::mutex> lock(lost().mutex);
    if (error == 0) {
        lost().variables.erase(variable);
    } else if (lost().variables.insert(variable).second) {
        std::fprintf(stderr, "emulator: cannot write the %s to %s (%s): %s\n", what, path.c_str(),
                     variable, std::strerror(error));
    }
}

}  // namespace emu
