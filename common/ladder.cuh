#pragma once
// A ladder: kernels that do the same job, each faster than the last.

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "block_shape.cuh"
#include "buffer.cuh"
#include "exercise.cuh"
#include "fastest.h"
#include "verify.h"

namespace lab {

// What a row is called; `parameters` where it has others than the options say
// (Exercise::parameters()).
struct Name {
    std::string kernel, parameters;
    Name(const char* kernel) : kernel(kernel) {}
    Name(std::string kernel, std::string parameters = "")
        : kernel(std::move(kernel)), parameters(std::move(parameters)) {}
};

// Looks at the result of the last run: a function that returns a Finding, or just what is wrong as
// a string (lab::mismatch(...); empty: nothing). It may take the times, for columns that need them.
class Check {
  public:
    template <typename Function, std::enable_if_t<!std::is_same_v<Function, Check>, int> = 0>
    Check(Function function) {
        if constexpr (std::is_invocable_v<Function, const Statistics&>) {
            function_ = std::move(function);
        } else {
            function_ = [function = std::move(function)](const Statistics&) -> Finding {
                return function();
            };
        }
    }
    Finding operator()(const Statistics& time) const { return function_(time); }

  private:
    std::function<Finding(const Statistics&)> function_;
};

class Ladder {
  public:
    // Speedups refer to the first row of the ladder. All its kernels write to `output`, which is
    // poisoned before every run; then `before` runs, e.g. to restore what a kernel overwrites.
    // Neither is timed, and both buffers must outlive the ladder.
    template <typename T>
    Ladder(Exercise& exercise, DeviceBuffer<T>& output, Launch before = {})
        : exercise_(exercise), before_([&output, before = std::move(before)] {
              output.fillBytes(poisonByte<T>());
              if (before) before();
          }) {}

    // One kernel: runs it, measures it, checks it and prints its row. `work` is lab::bytes() that
    // it has to move or lab::flops() that it has to compute; grid and block are for the table.
    void rung(const Name& name, dim3 grid, dim3 block, const Work& work, const Check& check,
              const Launch& launch) {
        if (exercise_.selected(name.kernel))
            run(name, shape(grid), shape(block), work, check, launch);
    }

    // A library that does the same job.
    void peer(const Name& name, const Work& work, const Check& check, const Launch& launch) {
        if (exercise_.peerSelected(name.kernel)) run(name, "-", "-", work, check, launch);
    }

    // What the host computed: checked like a kernel's result, but not timed.
    void host(const Name& name, const Work& work, const Check& check) {
        if (exercise_.selected(name.kernel)) print(name, "-", "-", work, {}, check({}));
    }

    // For a check that wants more than one run: runs the kernel that it looks at once more.
    void again() const { again_(); }

    // After the last rung: says which was the fastest of those that are right, and in blocks of
    // which shape if the first one had others.
    void announceFastest() {
        const std::string text = fastest_.text();
        if (!text.empty()) exercise_.note(text, Style::kGood);
    }

  private:
    void run(const Name& name, const std::string& grid, const std::string& block, const Work& work,
             const Check& check, const Launch& launch) {
        const Statistics time = exercise_.measure()(name.kernel, before_, launch);
        again_ = [&] { Measure::once(name.kernel, before_, launch); };
        const Finding finding = check(time);
        again_ = nullptr;
        // A race that was lucky is not right.
        const bool right = exercise_.timesCount() && finding.ok();
        fastest_.add({name.kernel, block, time.median}, grid == "-", right);
        print(name, grid, block, work, time, finding);
    }

    void print(const Name& name, const std::string& grid, const std::string& block,
               const Work& work, const Statistics& time, const Finding& finding) {
        Row row;
        row.kernel = name.kernel;
        row.grid = grid;
        row.block = block;
        row.parameters = name.parameters;
        row.work = work;
        row.baseline = fastest_.baseline();
        row.time = time;
        row.finding = finding;
        exercise_.row(std::move(row));
    }

    Exercise& exercise_;
    Launch before_;
    Launch again_;
    Fastest fastest_;
};

}  // namespace lab
