#include "float_sums.h"

#include <cmath>

namespace emu {
namespace {

double sumOf(double a, double b, bool isDouble) {
    return isDouble ? a + b : static_cast<float>(a) + static_cast<float>(b);
}

bool sameSum(const FloatAddition& one, const FloatAddition& two) {
    return one.address == two.address && one.isDouble == two.isDouble && one.launch == two.launch;
}

bool unordered(const FloatAddition& one, const FloatAddition& two) {
    if (one.block != two.block) return !two.isShared && one.gridBarriers == two.gridBarriers;
    return one.rank != two.rank && one.barriers == two.barriers;
}

}  // namespace

FloatSums::Chain FloatSums::begin(const FloatAddition& first) {
    return {first, sumOf(first.before, first.value, first.isDouble), first.before};
}

bool FloatSums::isBefore(const FloatAddition& addition, const Chain& chain) {
    return sameSum(chain.first, addition) &&
           sumOf(addition.before, addition.value, addition.isDouble) == chain.first.before;
}

bool FloatSums::continues(const FloatAddition& addition, const Chain& chain) {
    return sameSum(chain.first, addition) && unordered(chain.first, addition) &&
           addition.before == chain.sum;
}

std::optional<FloatSums::Otherwise> FloatSums::extend(Chain& chain, const FloatAddition& last) {
    chain.sum = sumOf(chain.sum, last.value, last.isDouble);
    chain.without = sumOf(chain.without, last.value, last.isDouble);
    const double otherwise = sumOf(chain.without, chain.first.value, last.isDouble);
    if (chain.sum == otherwise || !std::isfinite(chain.sum) || !std::isfinite(otherwise)) {
        return std::nullopt;
    }
    return Otherwise{chain.first, chain.sum, otherwise};
}

}  // namespace emu
