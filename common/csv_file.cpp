#include "csv_file.cuh"

#include <utility>

namespace lab {

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
