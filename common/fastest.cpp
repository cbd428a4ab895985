#include "fastest.h"

#include "format.h"

namespace lab {

void Fastest::add(const Timed& row, bool library, bool right) {
    if (first_.time == 0) first_ = row;
    Timed& best = library ? library_ : kernel_;
    if (right && (best.time == 0 || row.time < best.time)) best = row;
}

std::string Fastest::text() const {
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

}  // namespace lab
