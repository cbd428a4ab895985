#pragma once
// The rows of streamOrder.

#include <string>
#include <utility>
#include <vector>

#include "lab.cuh"

// The exercise's own columns. What a row has nothing to say of stays empty.
struct Cells {
    std::string promised, seen;
    lab::Cell call, stale, elements, polls, cpu, idle, behind, ideal;

    Cells() = default;
    Cells(std::string promised, std::string seen)
        : promised(std::move(promised)), seen(std::move(seen)) {}
    operator std::vector<lab::Cell>() const {
        return {promised, seen, call, stale, elements, polls, cpu, idle, behind, ideal};
    }
};

// Of the host; empty where times do not count.
inline lab::Cell inMicroseconds(const lab::Exercise& exercise,
                                const std::vector<double>& milliseconds) {
    if (!exercise.timesCount()) return {};
    return {1e3 * lab::statistics(milliseconds).median, 1};
}

// A row without a time of the GPU.
inline void printRow(lab::Exercise& exercise, const std::string& name,
                     const lab::Finding& finding) {
    lab::Row row;
    row.kernel = name;
    row.finding = finding;
    exercise.row(std::move(row));
}

inline int runsOf(const lab::Exercise& exercise) {
    return exercise.profile() ? 1 : exercise.reps();
}
