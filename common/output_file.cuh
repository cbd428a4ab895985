#pragma once
// Files that an exercise writes besides its table, because an option such as --timeline=FILE asks
// for them.

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "exercise.cuh"
#include "table.h"

namespace lab {

class OutputFile {
  public:
    // File `name`, which came with --`option`. An empty name is none.
    OutputFile(const Exercise& exercise, const std::string& option, std::string name);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // What is to stand in the file is written here. Null where there is none.
    std::FILE* stream() const { return file_; }
    const std::string& name() const { return name_; }

    // Only now the file appears, or is replaced, as a whole. (A device or a pipe gets everything as
    // it comes.) Ends the program if anything could not be written.
    void close();

  private:
    bool replaceFile() const;

    std::string name_;
    std::FILE* file_ = nullptr;
    char* kept_ = nullptr;  // what is to become the file
    std::size_t keptSize_ = 0;
};

// The same of rows, as CSV.
class CsvFile {
  public:
    // File `name`, which came with --`option`, of columns with these names. An empty name is none,
    // and rows go nowhere.
    CsvFile(const Exercise& exercise, const std::string& option, std::string name,
            const std::vector<std::string>& columns);

    void row(const std::vector<Cell>& cells);

    // Only now the file appears, or is replaced, as a whole; without a row what was there stays.
    // Ends the program if anything could not be written.
    void close();

  private:
    OutputFile file_;
    std::optional<Table> table_;
    bool hasRows_ = false;
};

}  // namespace lab
