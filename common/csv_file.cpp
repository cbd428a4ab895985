#include "csv_file.cuh"

#include <cerrno>
#include <cstring>
#include <utility>

#include "fail.h"

namespace lab {

CsvFile::CsvFile(const Exercise& exercise, const std::string& option, std::string name,
                 std::vector<Column> columns)
    : name_(std::move(name)) {
    if (name_.empty()) return;
    file_ = std::fopen(name_.c_str(), "w");
    if (file_ == nullptr) {
        exercise.reject("--" + option + "=" + name_ +
                        ": expected a file that can be written: " + std::strerror(errno));
    }
    table_.emplace(std::move(columns), true, file_);
}

CsvFile::~CsvFile() {
    if (file_ != nullptr) std::fclose(file_);
}

void CsvFile::row(const std::vector<Cell>& cells) {
    if (table_) table_->row(cells);
}

void CsvFile::close() {
    if (file_ == nullptr) return;
    const bool written = std::ferror(file_) == 0;
    if (std::fclose(std::exchange(file_, nullptr)) != 0 || !written)
        quit(kExitFailure, "cannot write to %s", name_.c_str());
}

}  // namespace lab
