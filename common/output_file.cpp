#include "output_file.cuh"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fail.h"
#include "format.h"

namespace lab {
namespace {

// Is there a file of this name, or could there be one? Not a device, a pipe, a folder.
bool isFile(const std::string& name) {
    struct stat found {};
    if (name.rfind("/dev/", 0) == 0) return false;  // /dev/stdout may lead to a file
    return stat(name.c_str(), &found) != 0 || S_ISREG(found.st_mode);
}

std::string withoutLinks(const std::string& name) {
    char* const resolved = realpath(name.c_str(), nullptr);
    if (resolved == nullptr) return name;
    std::string result = resolved;
    std::free(resolved);
    return result;
}

// What is to become the file is written beside it and renamed.
std::string besideOf(const std::string& name) {
    return name + formatted(".%d.tmp", static_cast<int>(getpid()));
}

// As long as it lives, the signals that end a program remove a file first.
class RemovedBySignals {
  public:
    explicit RemovedBySignals(const std::string& name) {
        file = name.c_str();
        for (std::size_t i = 0; i < kCount; ++i) {
            before_[i] = std::signal(kSignals[i], removeAndEnd);
            if (before_[i] == SIG_IGN) std::signal(kSignals[i], SIG_IGN);
        }
    }
    ~RemovedBySignals() {
        for (std::size_t i = 0; i < kCount; ++i) std::signal(kSignals[i], before_[i]);
    }
    RemovedBySignals(const RemovedBySignals&) = delete;
    RemovedBySignals& operator=(const RemovedBySignals&) = delete;

  private:
    static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
    static constexpr std::size_t kCount = sizeof(kSignals) / sizeof(*kSignals);

    static void removeAndEnd(int signal) {
        unlink(file);
        std::signal(signal, SIG_DFL);
        raise(signal);
    }

    static inline const char* file = nullptr;
    void (*before_[kCount])(int);
};

bool write(const std::string& name, const char* data, std::size_t size) {
    std::FILE* const file = std::fopen(name.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fwrite(data, 1, size, file) == size;
    const int reason = errno;
    const bool closed = std::fclose(file) == 0;
    if (!written) errno = reason;
    return closed && written;
}

// Can the file be replaced? errno says why not.
bool replaceable(const std::string& name) {
    if (access(name.c_str(), F_OK) == 0 && access(name.c_str(), W_OK) != 0) return false;
    const std::string beside = besideOf(name);
    const RemovedBySignals whileItIsThere(beside);
    return write(beside, "", 0) && std::remove(beside.c_str()) == 0;
}

}  // namespace

OutputFile::OutputFile(const Exercise& exercise, const std::string& option, std::string name)
    : name_(std::move(name)) {
    if (name_.empty()) return;
    if (!isFile(name_)) {
        file_ = std::fopen(name_.c_str(), "w");
    } else if (replaceable(withoutLinks(name_))) {
        file_ = open_memstream(&kept_, &keptSize_);
    }
    if (file_ == nullptr) {
        exercise.reject(option, name_,
                        std::string("a file that can be written: ") + std::strerror(errno));
    }
}

OutputFile::~OutputFile() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(kept_);
}

void OutputFile::close() {
    if (file_ == nullptr) return;
    errno = 0;
    bool written = std::ferror(file_) == 0;
    written = std::fclose(std::exchange(file_, nullptr)) == 0 && written;
    if (kept_ != nullptr) written = written && replaceFile();
    if (written) return;
    const std::string reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
    quit(kExitFailure, "cannot write to %s%s", shortened(name_).c_str(), reason.c_str());
}

// Whoever interrupts this leaves what was there.
bool OutputFile::replaceFile() const {
    const std::string name = withoutLinks(name_);
    const std::string beside = besideOf(name);
    const RemovedBySignals whileItIsThere(beside);
    if (write(beside, kept_, keptSize_) && std::rename(beside.c_str(), name.c_str()) == 0) {
        return true;
    }
    const int reason = errno;
    std::remove(beside.c_str());
    errno = reason;
    return false;
}

CsvFile::CsvFile(const Exercise& exercise, const std::string& option, std::string name,
                 const std::vector<std::string>& columns)
    : file_(exercise, option, std::move(name)) {
    if (file_.stream() == nullptr) return;
    std::vector<Column> ofTable;
    for (const std::string& column : columns) ofTable.push_back({"", 0, column});
    table_.emplace(std::move(ofTable), true, file_.stream());
}

void CsvFile::row(const std::vector<Cell>& cells) {
    if (table_) table_->row(cells);
    hasRows_ = true;
}

void CsvFile::close() {
    if (hasRows_) file_.close();
}

}  // namespace lab
