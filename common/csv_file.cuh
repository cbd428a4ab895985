#pragma once
// A CSV file of an exercise besides its table: what an option such as --timeline=FILE asks for.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exercise.cuh"
#include "table.h"

namespace lab {

class CsvFile {
  public:
    // Opens file `name`, which came with --`option`. An empty name opens none, and rows go nowhere.
    CsvFile(const Exercise& exercise, const std::string& option, std::string name,
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
    ~CsvFile() {
        if (file_ != nullptr) std::fclose(file_);
    }
    CsvFile(const CsvFile&) = delete;
    CsvFile& operator=(const CsvFile&) = delete;

    void row(const std::vector<Cell>& cells) {
        if (table_) table_->row(cells);
    }

    // Ends the program if anything could not be written.
    void close() {
        if (file_ == nullptr) return;
        const bool written = std::ferror(file_) == 0;
        if (std::fclose(std::exchange(file_, nullptr)) != 0 || !written)
            quit(kExitFailure, "cannot write to %s", name_.c_str());
    }

  private:
    std::string name_;
    std::FILE* file_ = nullptr;
    std::optional<Table> table_;
};

}  // namespace lab
