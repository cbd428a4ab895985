#pragma once
// What copyOverlap prints of the ways through its pipeline besides their times.

#include <vector>

#include "pipeline.h"
#include "result_table.h"

namespace pipeline {

inline std::vector<lab::OwnColumn> overlapColumns() {
    constexpr auto kOnGpu = lab::OwnColumn::kOnGpu;
    std::vector<lab::OwnColumn> columns = {{"pieces", 6, "pieces"},
                                           {"streams", 7, "streams"},
                                           {"GB/s", 5, "gbps", kOnGpu},
                                           {"bound", 6, "bound_ms", kOnGpu},
                                           {"predicted", 9, "predicted_ms", kOnGpu},
                                           {"share", 5, "share", kOnGpu}};
    for (const char* const onlyInCsv :
         {"gain", "serial_ms", "in_ms", "kernel_ms", "out_ms", "both_ms", "per_piece_ms", "host_ms",
          "pageable_in_ms", "pageable_out_ms"})
        columns.push_back({"", 0, onlyInCsv, kOnGpu});
    return columns;
}

// The cells that are kOnGpu of a pipeline that took `time` milliseconds. `serial` is what the whole
// array took with one stage after the other; 0 where that did not run (--kernel may leave it out).
inline std::vector<lab::Cell> overlapCells(const Way& way, const Alone& alone, double serial,
                                           double time) {
    const Prediction prediction = predicted(way, alone);
    std::vector<lab::Cell> cells = {
        {}, {prediction.bound, 2}, {prediction.time, 2}, {100 * prediction.bound / time, 1}};
    const bool ran = serial > 0;
    cells.push_back(ran && way.has(kHost) ? lab::Cell(serial / time, 2) : lab::Cell());
    cells.push_back(ran ? lab::Cell(serial, 4) : lab::Cell());
    for (const double each : {alone.in, alone.kernel, alone.out, alone.bothWays, alone.perPiece,
                              alone.host, alone.pageableIn, alone.pageableOut})
        cells.emplace_back(each, 4);
    return cells;
}

}  // namespace pipeline
