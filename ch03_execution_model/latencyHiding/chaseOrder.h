#pragma once
// A ChaseCycle is the order in which the dependent loads of latencyHiding go through memory.

#include <cstddef>
#include <numeric>

// cycle[i] is the element that follows i. The cycle goes through all n elements, and no two
// elements that are near in time are near in memory.
class ChaseCycle {
  public:
    explicit ChaseCycle(std::size_t n)
        : size_(n), stride_(static_cast<std::size_t>(0.618 * static_cast<double>(n)) + 1) {
        while (std::gcd(stride_, size_) != 1) ++stride_;
    }
    std::size_t size() const { return size_; }
    unsigned operator[](std::size_t i) const {
        return static_cast<unsigned>(i + stride_ < size_ ? i + stride_ : (i + stride_) % size_);
    }

  private:
    std::size_t size_, stride_;
};
