#pragma once
// This header prints the rows of deviceQuery.

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "lab.cuh"
#include "recorded_gpus.h"

// Prints the properties of one device, group by group.
struct Sheet {
    lab::Exercise& exercise;
    const RecordedGpu* recorded = nullptr;  // this GPU stands in place of a device
    int device = 0;
    lab::DeviceFacts facts;
    cudaDeviceProp p{};
    std::string group;
    bool groupPrinted = false;  // its name stands above its first row

    Sheet(lab::Exercise& exercise, int device)
        : exercise(exercise), device(device), facts(lab::deviceFacts(device)) {
        CUDA_CHECK(cudaGetDeviceProperties(&p, device));
    }
    Sheet(lab::Exercise& exercise, const RecordedGpu& gpu) : exercise(exercise), recorded(&gpu) {
        std::snprintf(p.name, sizeof(p.name), "%s", gpu.name.c_str());
        p.totalGlobalMem = gpu.globalMemory;
        const int major = ask(cudaDevAttrComputeCapabilityMajor);
        const int minor = ask(cudaDevAttrComputeCapabilityMinor);
        const bool known = gpu.fp32Lanes > 0;
        facts.fp32Lanes = known ? gpu.fp32Lanes : lab::fp32LanesPerMultiprocessor(major, minor);
        facts.schedulers = known ? gpu.schedulers : lab::schedulersPerMultiprocessor(major);
    }

    int ask(cudaDeviceAttr attribute) const {
        if (!recorded) return lab::deviceAttribute(attribute, device);
        const auto known = recorded->attributes.find(attribute);
        return known == recorded->attributes.end() ? 0 : known->second;
    }

    // Begins a group. The next rows belong to it.
    void begin(const std::string& name) {
        group = name;
        groupPrinted = false;
    }

    // Prints a row, if --kernel selects it. `right` is the result of the check. An empty value
    // means unknown. Without --csv, the meaning is a line below the row.
    void add(const std::string& name, const std::string& value, const std::string& unit,
             const std::string& meaning, bool right) {
        lab::Row row;
        row.kernel = group + ": " + name;
        if (!exercise.selected(row.kernel)) return;
        row.device = p.name;
        row.finding.wrong = right || recorded ? "" : "its sources disagree, or it is impossible";
        const std::string known = value.empty() ? "" : meaning;
        if (exercise.csv()) {
            row.finding.cells = {device, group, name, value, unit, known};
            exercise.row(row);
            return;
        }
        printGroup();
        row.finding.cells = {device, group, "  " + name, value.empty() ? "-" : value, unit};
        exercise.row(row);
        if (!known.empty()) exercise.note("      " + known);
    }
    void printGroup() {  // prints a row that has nothing else
        if (groupPrinted) return;
        groupPrinted = true;
        lab::Row row;
        row.finding.cells = {"", "", group};
        row.finding.word = "";
        exercise.row(row);
    }

    // Prints whole numbers that CUDA has as attributes and as fields of the struct. They are
    // unknown if all of them are 0. If the unit is bytes, the size in KiB or MiB stands before the
    // meaning.
    void sizes(const std::string& name,
               const std::vector<std::pair<cudaDeviceAttr, long long>>& sources,
               const std::string& unit, std::string meaning) {
        std::string value, other;
        bool known = false;
        for (const auto& [attribute, field] : sources) {
            const int size = ask(attribute);
            known = known || size != 0 || field != 0;
            value += (value.empty() ? "" : " x ") + std::to_string(size);
            other += (other.empty() ? "" : " x ") + std::to_string(field);
            if (unit == "bytes" && size >= 1024) meaning = lab::inBytes(size) + meaning;
        }
        const bool same = recorded || value == other;
        if (!same) value += " or " + other;
        add(name, known ? value : "", unit, meaning, same);
    }
    void yesNo(const std::string& name, cudaDeviceAttr attribute, int other,
               const std::string& meaning) {
        const int value = ask(attribute);
        add(name, value != 0 ? "yes" : "no", "", meaning,
            value == other && (value == 0 || value == 1));
    }
    // Prints a number that the program computes, or that has a single source. 0 means unknown.
    void number(const std::string& name, double value, const std::string& unit,
                const std::string& meaning, bool right = true) {
        const int decimals = value == std::floor(value) ? 0 : value < 10 ? 4 : 1;
        add(name, value == 0 ? "" : lab::formatted("%.*f", decimals, value), unit, meaning, right);
    }
};
