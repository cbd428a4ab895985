#pragma once
// A CSV file of an exercise besides its table: what an option such as --timeline=FILE asks for.

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "exercise.cuh"
#include "table.h"

namespace lab {

class CsvFile {
  public:
    // Opens file `name`, which came with --`option`. An empty name opens none, and rows go nowhere.
    CsvFile(const Exercise& exercise, const std::string& option, std::string name,
            std::vector<Column> columns);
    ~CsvFile();
    CsvFile(const CsvFile&) = delete;
    CsvFile& operator=(const CsvFile&) = delete;

    void row(const std::vector<Cell>& cells);

    // Ends the program if anything could not be written.
    void close();

  private:
    std::string name_;
    std::FILE* file_ = nullptr;
    std::optional<Table> table_;
};

}  // namespace lab
