#pragma once
// Which row of a ladder was the fastest.

#include <string>

namespace lab {

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

}  // namespace lab
