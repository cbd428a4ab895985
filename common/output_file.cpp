#include "output_file.cuh"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

// Can the file be replaced? errno says why not.
bool replaceable(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : name.substr(0, slash + 1);
    if (access(folder.c_str(), W_OK | X_OK) != 0) return false;
    return access(name.c_str(), F_OK) != 0 || access(name.c_str(), W_OK) == 0;
}

bool write(const std::string& name, const char* data, std::size_t size) {
    std::FILE* const file = std::fopen(name.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fwrite(data, 1, size, file) == size;
    return std::fclose(file) == 0 && written;
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
        exercise.reject("--" + option + "=" + name_ +
                        ": expected a file that can be written: " + std::strerror(errno));
    }
}

OutputFile::~OutputFile() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(kept_);
}

void OutputFile::close() {
    if (file_ == nullptr) return;
    bool written = std::ferror(file_) == 0;
    written = std::fclose(std::exchange(file_, nullptr)) == 0 && written;
    if (kept_ != nullptr) written = written && replaceFile();
    if (!written) quit(kExitFailure, "cannot write to %s", name_.c_str());
}

// Written beside it and renamed: whoever interrupts that leaves what was there.
bool OutputFile::replaceFile() const {
    const std::string name = withoutLinks(name_);
    const std::string beside = name + formatted(".%d.tmp", static_cast<int>(getpid()));
    if (write(beside, kept_, keptSize_) && std::rename(beside.c_str(), name.c_str()) == 0) {
        return true;
    }
    std::remove(beside.c_str());
    return false;
}

}  // namespace lab
