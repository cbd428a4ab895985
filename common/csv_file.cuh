#pragma once
// A CSV file of an exercise besides its table: what an option such as --timeline=FILE asks for.

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "exercise.cuh"
#include "table.h"

namespace lab {

class CsvFile {
  public:
    // File `name`, which came with --`option`. An empty name is none, and rows go nowhere.
    CsvFile(const Exercise& exercise, const std::string& option, std::string name,
            std::vector<Column> columns);
    ~CsvFile();
    CsvFile(const CsvFile&) = delete;
    CsvFile& operator=(const CsvFile&) = delete;

    void row(const std::vector<Cell>& cells);

    // Only now the file appears, or is replaced, as a whole. (A device or a pipe gets each row as
    // it comes.) Ends the program if anything could not be written.
    void close();

  private:
    bool replaceFile() const;

    std::string name_;
    std::FILE* file_ = nullptr;  // where rows go
    char* kept_ = nullptr;       // what is to become the file
    std::size_t keptSize_ = 0;
    std::optional<Table> table_;
};

}  // namespace lab
