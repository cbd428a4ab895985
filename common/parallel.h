#pragma once
// Host work spread over all cores: input data and CPU references of large sizes take seconds, not
// minutes.

#include <cstddef>
#include <functional>

namespace lab {

// Calls work(begin, end) for pieces that cover 0 ... count - 1, each on a thread of its own.
// `least` is the smallest piece that is worth a thread.
void parallelFor(std::size_t count, std::size_t least,
                 const std::function<void(std::size_t begin, std::size_t end)>& work);

}  // namespace lab
