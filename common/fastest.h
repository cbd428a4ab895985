#pragma once
// Which row of a ladder was the fastest.

#include <string>

#include "format.h"

namespace lab {

class Fastest {
  public:
    struct Timed {
        std::string kernel, block;
        double time = 0;  // milliseconds
    };

    // A row, in the order in which they are measured: of a library or of a kernel. Only one that is
    // `right` can be the fastest.
    void add(const Timed& row, bool library, bool right) {
        if (first_.time == 0) first_ = row;
        Timed& best = library ? library_ : kernel_;
        if (right && (best.time == 0 || row.time < best.time)) best = row;
    }

    // Of the first row, to which speedups refer; 0 where nothing was timed.
    double baseline() const { return first_.time; }

    // The fastest kernel, in blocks of which shape if the first row had others, and how it compares
    // with the first row and with the fastest library. Empty where it is the first row itself, or
    // no kernel was right.
    std::string text() const {
        const bool sameBlock = kernel_.block == first_.block;
        if (kernel_.time == 0 || (kernel_.kernel == first_.kernel && sameBlock)) return "";
        const auto nameOf = [&](const Timed& row) {
            return row.kernel + (sameBlock || row.block == "-" ? "" : " (block " + row.block + ")");
        };
        std::string text = "fastest: " + nameOf(kernel_);
        for (const Timed& other : {first_, library_}) {
            if (other.time == 0) continue;
            text += formatted("\n         %.2f times as fast as %s", other.time / kernel_.time,
                              nameOf(other).c_str());
        }
        return text;
    }

  private:
    Timed first_, kernel_, library_;
};

}  // namespace lab
