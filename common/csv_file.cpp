#include "csv_file.cuh"

#include <utility>

namespace lab {

CsvFile::CsvFile(const Exercise& exercise, const std::string& option, std::string name,
                 std::vector<Column> columns)
    : file_(exercise, option, std::move(name)) {
    if (file_.stream() != nullptr) table_.emplace(std::move(columns), true, file_.stream());
}

void CsvFile::row(const std::vector<Cell>& cells) {
    if (table_) table_->row(cells);
}

}  // namespace lab
