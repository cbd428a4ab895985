#pragma once
// The shape of a grid or a block as text: "256", "32x8", "5x5x5".

#include <cuda_runtime.h>

#include <optional>
#include <string>

namespace lab {

inline constexpr unsigned kMaxBlock = 1024;  // threads per block, on every GPU

std::string shape(dim3 size);

// The inverse: "40x2" as a block, with at most so many numbers (1 to 3). Nothing where the text is
// none, or one that no GPU can launch.
std::optional<dim3> parseBlock(const std::string& text, int most);

}  // namespace lab
