#include "symbolizer.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "program_symbols.h"

extern char** environ;

namespace emu {
namespace {

// binutils' addr2line as a co-process: an address per line in; out the address, and `file:line` for
// the place and each function that the compiler put it into. The compiler needs binutils, so it is
// there; if not, answers are empty.
class Addr2line {
  public:
    // The lines of the innermost function first.
    std::vector<std::string> ask(uintptr_t address) {
        if (!started_) start();
        char question[64];
        // Behind the question for the place of 0, whose answer ends this one's.
        const int length = std::snprintf(question, sizeof(question), "%#zx\n0\n", size_t{address});
        if (socket_ < 0 ||
            send(socket_, question, static_cast<size_t>(length), MSG_NOSIGNAL) != length) {
            return {};
        }
        std::vector<std::string> answer;
        readLine();  // the address
        for (std::string line = readLine(); !isZero(line); line = readLine()) {
            answer.push_back(line);
        }
        readLine();  // of 0
        return answer;
    }

  private:
    // Also of no line: addr2line has ended.
    static bool isZero(const std::string& line) {
        return line.find_first_not_of("0x") == std::string::npos;
    }

    std::string readLine() {
        std::string line;
        for (char c = 0; recv(socket_, &c, 1, 0) == 1 && c != '\n';) line += c;
        return line;
    }

    void start() {
        started_ = true;
        // By a descriptor: the file may be replaced by now, and what QEMU's user mode runs is known
        // to itself alone.
        const int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        int ends[2];
        if (program < 0) return;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            close(program);
            return;
        }
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, program, STDERR_FILENO + 1);
        // Who ends the program by a signal may send it to all that belongs to it, and the program
        // has some places to ask for then. addr2line ends with it.
        sigset_t blocked;
        sigemptyset(&blocked);
        for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, number);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setsigmask(&attributes, &blocked);
        char name[] = "addr2line", options[] = "-aie", file[] = "/proc/self/fd/3";
        char* arguments[] = {name, options, file, nullptr};
        pid_t child = 0;
        const int error = posix_spawnp(&child, name, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        close(program);
        close(ends[1]);
        if (error == 0) {
            socket_ = ends[0];
        } else {
            close(ends[0]);
        }
    }

    bool started_ = false;
    int socket_ = -1;  // addr2line ends when this is closed, at the latest with the program
};

struct Known {
    SourceLine line;
    bool user;
    SourceLine userLine;
};

std::string absolutePath(const std::string& file) {
    std::error_code error;
    const auto place = std::filesystem::path(EMU_PROJECT_DIR) / file;  // of an absolute one: itself
    const auto path = std::filesystem::weakly_canonical(place, error);
    return error ? file : path.string();
}

bool isBelow(const std::string& path, const std::string& folder) {
    return path.rfind(folder, 0) == 0;
}

bool isUserFile(const std::string& path) {
    static const std::string& ownHeaders =  // never destroyed: used at the program's end
        *new std::string(absolutePath(EMU_INCLUDE_DIR) + "/");
    return !isBelow(path, ownHeaders) && !isBelow(path, "/usr/");
}

Known lookUp(uintptr_t address, Addr2line& addr2line) {
    Known known{{}, false, {}};
    for (const std::string& answer : addr2line.ask(address - loadBias())) {
        // "file:line", sometimes with a note behind it, or "??:0"
        const size_t colon = answer.rfind(':');
        const int line = colon == std::string::npos ? 0 : std::atoi(answer.c_str() + colon + 1);
        if (line == 0) continue;
        const std::string path = absolutePath(answer.substr(0, colon));
        const SourceLine place{shownPath(path), line};
        const bool user = isUserFile(path);
        if (known.line.line == 0) {
            known.line = place;
            known.user = user;
        }
        if (user && known.userLine.line == 0) known.userLine = place;
    }
    if (known.line.line == 0) {
        known.line.file = symbolAt(reinterpret_cast<const void*>(address));
        known.user = known.line.file.rfind("emu::", 0) != 0;
    }
    return known;
}

// Is this thread in lookUp()? Of a template that the program uses as well, the linker may have kept
// the program's code, which is recorded: then the recorder asks about it.
thread_local bool lookingUp = false;

const Known& known(uintptr_t pc) {
    static std::mutex& mutex = *new std::mutex;  // used at the program's end
    static auto& cache = *new std::unordered_map<uintptr_t, Known>;
    static Addr2line& addr2line = *new Addr2line;
    const std::lock_guard<std::mutex> lock(mutex);
    lookingUp = true;
    auto entry = cache.find(pc);
    if (entry == cache.end()) entry = cache.emplace(pc, lookUp(pc - 1, addr2line)).first;
    lookingUp = false;
    return entry->second;
}

}  // namespace

SourceLine sourceLine(uintptr_t pc) {
    return known(pc).line;
}

SourceLine userLine(uintptr_t pc) {
    return known(pc).userLine;
}

bool isUserCode(uintptr_t pc) {
    if (lookingUp) return false;
    enum Answer : uint8_t { kUnknown, kUser, kOther };
    static std::array<std::atomic<uint64_t>, 1 << 14> answers;  // pc * 4 + Answer
    std::atomic<uint64_t>& slot = answers[pc / 4 % answers.size()];
    const uint64_t remembered = slot.load(std::memory_order_relaxed);
    if (remembered / 4 == pc && remembered % 4 != kUnknown) return remembered % 4 == kUser;
    const bool user = known(pc).user;
    slot.store(pc * 4 + (user ? kUser : kOther), std::memory_order_relaxed);
    return user;
}

uintptr_t hostPlace(uintptr_t pc) {
    // (The back end's own code has no line numbers.)
    const auto isPlace = [](uintptr_t place) {
        return isUserCode(place) && sourceLine(place).line > 0;
    };
    if (pc != 0 && isPlace(pc)) return pc;
    void* frames[64];
    const int count = backtrace(frames, static_cast<int>(std::size(frames)));
    for (int i = 1; i < count; ++i) {
        const auto place = reinterpret_cast<uintptr_t>(frames[i]);
        if (isPlace(place)) return place;
    }
    return pc;
}

std::string shownPath(const std::string& file) {
    std::error_code error;
    const auto relative = std::filesystem::relative(file, error).string();
    return error || relative.empty() || relative.size() >= file.size() ? file : relative;
}

std::string sourceText(const std::string& file, int line) {
    std::ifstream stream(file);
    std::string text;
    for (int i = 0; i < line; ++i) {
        if (!std::getline(stream, text)) return {};
    }
    const size_t begin = text.find_first_not_of(" \t");
    const size_t end = text.find_last_not_of(" \t\r");
    return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

}  // namespace emu
