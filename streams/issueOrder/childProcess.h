#pragma once
// A part of a program's work in a process of its own, which sends back what it found: for what CUDA
// reads but once, when it starts.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fail.h"

// The file descriptor that a child writes to: a variable of its environment.
inline constexpr char kReportTo[] = "LAB_REPORT_TO";

// `variables` are names and values.
class ChildProcess {
  public:
    using Variables = std::vector<std::pair<std::string, std::string>>;

    // Starts `program` with `arguments`, as main() has them, in this environment but for the
    // `variables`. `about` is for messages: what it is. Its own messages go to stderr, as ours do.
    ChildProcess(std::string about, const char* program, char* const* arguments,
                 Variables variables = {})
        : about_(std::move(about)) {
        int ends[2];
        if (pipe(ends) != 0) notStarted(errno);
        from_ = ends[0];
        fcntl(from_, F_SETFD, FD_CLOEXEC);  // the child has but the end to write to
        variables.emplace_back(kReportTo, std::to_string(ends[1]));
        std::vector<char*> environment;
        for (char** word = environ; *word != nullptr; ++word) {
            if (!isOneOf(variables, *word)) environment.push_back(*word);
        }
        for (auto& [name, value] : variables) environment.push_back((name += "=" + value).data());
        environment.push_back(nullptr);
        const int error =
            posix_spawn(&process_, program, nullptr, nullptr, arguments, environment.data());
        close(ends[1]);  // when the child has ended, nobody can write
        if (error != 0) notStarted(error);
    }
    // A child that is not finished() cannot send any more, and ends.
    ~ChildProcess() {
        close(from_);
        if (process_ != 0) waitpid(process_, nullptr, 0);
    }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    // Waits for what it sends next. Ends this program, too, where it has ended instead.
    void receive(void* data, std::size_t bytes) {
        for (auto* to = static_cast<char*>(data); bytes > 0;) {
            const ssize_t got = read(from_, to, bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) {
                finish();
                lab::quit(lab::kExitFailure, "%s: has not reported all", about_.c_str());
            }
            to += got;
            bytes -= static_cast<std::size_t>(got);
        }
    }

    // Waits for its end. Where it did not succeed, this program ends with the same status.
    void finish() {
        int status = 0;
        while (waitpid(process_, &status, 0) < 0) {
            if (errno != EINTR) {
                lab::quit(lab::kExitFailure, "%s: nobody knows how it ended: %s", about_.c_str(),
                          std::strerror(errno));
            }
        }
        process_ = 0;
        if (WIFSIGNALED(status)) {
            lab::quit(lab::kExitFailure, "%s: ended by signal %d (%s)", about_.c_str(),
                      WTERMSIG(status), strsignal(WTERMSIG(status)));
        }
        const int code = WEXITSTATUS(status);
        if (code != 0)
            lab::quit(lab::ExitStatus(code), "%s: ended with status %d", about_.c_str(), code);
    }

  private:
    // Does `word`, "NAME=value", set one of these?
    static bool isOneOf(const Variables& variables, const std::string& word) {
        return std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
            return word.rfind(variable.first + "=", 0) == 0;
        });
    }

    [[noreturn]] void notStarted(int error) const {
        lab::quit(lab::kExitFailure, "%s: cannot be started: %s", about_.c_str(),
                  std::strerror(error));
    }

    std::string about_;
    pid_t process_ = 0;
    int from_ = -1;
};

// In a child: the way to its parent.
class ParentProcess {
  public:
    ParentProcess() {
        const char* const descriptor = std::getenv(kReportTo);
        if (descriptor == nullptr) return;
        to_ = std::atoi(descriptor);
        fcntl(to_, F_SETFD, FD_CLOEXEC);
        unsetenv(kReportTo);  // it is for this process alone
    }

    // Is this process a child?
    bool exists() const { return to_ >= 0; }

    // Where nobody listens any more, the signal SIGPIPE ends the program.
    void send(const void* data, std::size_t bytes) const {
        for (const auto* from = static_cast<const char*>(data); bytes > 0;) {
            const ssize_t put = write(to_, from, bytes);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) {
                lab::quit(lab::kExitFailure, "cannot report to the parent process: %s",
                          std::strerror(errno));
            }
            from += put;
            bytes -= static_cast<std::size_t>(put);
        }
    }

  private:
    int to_ = -1;
};
