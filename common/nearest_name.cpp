#include "nearest_name.h"

#include <algorithm>
#include <cstddef>

namespace lab {
namespace {

// Letters to insert, to leave out, to replace or to swap with the next one ("optimal string
// alignment").
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> from(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                from[i][j] = i + j;
                continue;
            }
            const std::size_t replaced = from[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
            from[i][j] = std::min({replaced, from[i - 1][j] + 1, from[i][j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                from[i][j] = std::min(from[i][j], from[i - 2][j - 2] + 1);
        }
    }
    return from[a.size()][b.size()];
}

}  // namespace

std::vector<std::string> nearestNames(const std::string& typed,
                                      const std::vector<std::string>& names) {
    std::vector<std::string> found;
    if (typed.empty() || typed.size() > 64) return found;
    std::copy_if(names.begin(), names.end(), std::back_inserter(found),
                 [&](const std::string& name) { return name.rfind(typed, 0) == 0; });
    if (!found.empty()) return found;
    std::size_t least = std::max<std::size_t>(1, typed.size() / 3);
    for (const std::string& name : names) {
        const std::size_t changes = distance(typed, name);
        if (changes >= std::max(name.size(), typed.size())) continue;  // no letter is the same
        if (changes < least) found.clear();
        if (changes <= least) found.push_back(name);
        least = std::min(least, changes);
    }
    return found;
}

}  // namespace lab
