#pragma once
// A CSV file of an exercise besides its table: what an option such as --timeline=FILE asks for.

#include <optional>
#include <string>
#include <vector>

#include "exercise.cuh"
#include "output_file.cuh"
#include "table.h"

namespace lab {

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
