#pragma once
// What somebody may have meant.

#include <string>
#include <vector>

namespace lab {

// Those of `names` that begin with `typed`, or else the nearest ones, if a third of the letters or
// less would have to change; a pair that is swapped counts as one.
std::vector<std::string> nearestNames(const std::string& typed,
                                      const std::vector<std::string>& names);

}  // namespace lab
