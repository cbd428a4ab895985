#include "float_sums.h"

#include <cmath>

namespace emu {
namespace {

template <class T>
double sumOf(double a, double b) {
    return static_cast<T>(static_cast<T>(a) + static_cast<T>(b));
}

}  // namespace

bool FloatSums::unordered(const FloatAddition& one, const FloatAddition& two) {
    if (one.address != two.address || one.isDouble != two.isDouble || one.launch != two.launch) {
        return false;
    }
    if (one.block != two.block) return !two.isShared && one.gridBarriers == two.gridBarriers;
    return one.rank != two.rank && one.barriers == two.barriers;
}

std::optional<FloatSums::Swapped> FloatSums::compare(const FloatAddition& one,
                                                     const FloatAddition& two) {
    const auto sum = two.isDouble ? sumOf<double> : sumOf<float>;
    if (sum(one.before, one.value) != two.before) return std::nullopt;  // something came between
    const double both = sum(two.before, two.value);
    const double otherwise = sum(sum(one.before, two.value), one.value);
    if (both == otherwise || !std::isfinite(both) || !std::isfinite(otherwise)) return std::nullopt;
    return Swapped{one, both, otherwise};
}

}  // namespace emu
