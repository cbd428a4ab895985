#pragma once
// A ladder: kernels that do the same job, each faster than the last.

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "buffer.cuh"
#include "exercise.cuh"
#include "format.h"
#include "verify.h"

namespace lab {

// What a row is called; `parameters` where it has others than the options say
// (Exercise::parameters()).
struct Name {
    std::string kernel, parameters;
    Name(const char* kernel);
    Name(std::string kernel, std::string parameters = "");
};

// Looks at the result of the last run: a function that returns a Finding, or just what is wrong as
// a string (lab::mismatch(...); empty: nothing). It may take the times, for columns that need them.
class Check {
  public:
    template <typename Function>
    static constexpr bool kFits = !std::is_same_v<Function, Check> &&
                                  (std::is_invocable_r_v<Finding, Function&> ||
                                   std::is_invocable_r_v<Finding, Function&, const Statistics&>);

    template <typename Function, std::enable_if_t<kFits<Function>, int> = 0>
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

// The shape of a grid or a block as text: "256", "32x8", "5x5x5".
inline std::string shape(dim3 size) {
    if (size.z > 1) return formatted("%ux%ux%u", size.x, size.y, size.z);
    if (size.y > 1) return formatted("%ux%u", size.x, size.y);
    return formatted("%u", size.x);
}

// Which row of a ladder was the fastest.
class Fastest {
  public:
    struct Timed {
        std::string kernel, block;
        double time = 0;  // milliseconds
    };

    // A row, in the order in which they are measured: of a library or of a kernel. Only one that is
    // `right` can be the fastest.
    void add(const Timed& row, bool library, bool right);

    // Of the first row, to which speedups refer; 0 where nothing was timed.
    double baseline() const { return first_.time; }

    // The fastest kernel, in blocks of which shape if the first row had others, and how it compares
    // with the first row and with the fastest library. Empty where it is the first row itself, or
    // no kernel was right.
    std::string text() const;

  private:
    Timed first_, kernel_, library_;
};

// Can Ladder::rung() be called with these?
template <typename... Arguments>
inline constexpr bool kIsRung =
    std::is_invocable_v<void(const Name&, dim3, dim3, const Work&, const Check&, const Launch&),
                        Arguments...>;

class Ladder {
  public:
    // Speedups refer to the first row of the ladder. All its kernels write to `output`, which is
    // poisoned before every run; then `before` runs, e.g. to restore what a kernel overwrites.
    // Neither is timed, and both buffers must outlive the ladder.
    template <typename T>
    Ladder(Exercise& exercise, DeviceBuffer<T>& output, Launch before = {})
        : Ladder(exercise, [&output] { output.fillBytes(poisonByte<T>()); }, std::move(before)) {}

    // One kernel: runs it, measures it, checks it and prints its row. `work` is lab::bytes() that
    // it has to move or lab::flops() that it has to compute; grid and block are for the table.
    void rung(const Name& name, dim3 grid, dim3 block, const Work& work, const Check& check,
              const Launch& launch);

    // Any other call: the compiler says what is expected.
    template <typename... Others, std::enable_if_t<!kIsRung<Others...>, int> = 0>
    void rung(Others&&...) {
        static_assert(kIsRung<Others...>,
                      "expected: rung(name, grid, block, work, check, launch). "
                      "work: lab::bytes(n), lab::flops(n) or lab::kNoRate. "
                      "check: a function without parameters that returns what is wrong, as "
                      "[&] { return lab::mismatch(output, expected); } does, or a lab::Finding. "
                      "launch: [&] { kernel<<<grid, block>>>(...); }");
    }

    // A library that does the same job.
    void peer(const Name& name, const Work& work, const Check& check, const Launch& launch);

    // What the host computed: checked like a kernel's result, but not timed.
    void host(const Name& name, const Work& work, const Check& check);

    // The same, timed: `compute` runs as often as a kernel does, or for a second.
    void host(const Name& name, const Work& work, const Check& check,
              const std::function<void()>& compute);

    // For a check that wants more than one run: runs the kernel that it looks at once more.
    void again() const;

    // After the last rung: says which was the fastest of those that are right, and in blocks of
    // which shape if the first one had others.
    void announceFastest();

  private:
    Ladder(Exercise& exercise, Launch poison, Launch before);

    void run(const Name& name, const std::string& grid, const std::string& block, const Work& work,
             const Check& check, const Launch& launch);
    void print(const Name& name, const std::string& grid, const std::string& block,
               const Work& work, const Statistics& time, const Finding& finding);

    Exercise& exercise_;
    Launch before_;
    Launch again_;
    Fastest fastest_;
};

}  // namespace lab
