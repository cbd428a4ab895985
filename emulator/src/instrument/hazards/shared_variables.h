// The __shared__ variables of the block that an OS thread runs: where a kernel may access shared
// memory, what the variables are called, and which of them nobody has written yet. Offsets and
// sizes are bytes; offsets count from the begin of the OS thread's shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/grid.h"
#include "engine/program_symbols.h"

namespace emu {

class SharedVariables {
  public:
    struct Range {
        size_t begin, end;
    };

    // Finds the variables of the kernel.
    void beginBlock(const Grid& grid, uintptr_t sharedBegin, size_t sharedSize);

    // Dynamic shared memory, as long as the launch asked for.
    const Range& dynamic() const { return variables_.front(); }

    // The memory around `offset` that an access there may use, as far as is known.
    std::optional<Range> around(size_t offset) const;
    // Another variable of the program that is there.
    std::optional<ThreadLocal> unknownAt(size_t offset) const;
    // The block has come to the declaration of this one.
    void add(const Range& variable) { variables_.push_back(variable); }

    // Whether these bytes still have the pattern that a block begins with: nobody has written
    // there, not even unseen. (The compiler announces no store of a struct that a function
    // returns.)
    bool unwritten(size_t offset, size_t size) const;

    // "element 70 of tile, which has 64 (of 4 bytes)": of the variable that is next to `offset`.
    std::string nextTo(size_t offset, size_t size) const;

    // "tile", and "tile, element 33 (of 4 bytes)"
    std::string nameOf(size_t offset) const;
    std::string nameOf(size_t offset, size_t size) const;

  private:
    uintptr_t sharedBegin_ = 0;
    size_t sharedSize_ = 0, dynamicOffset_ = 0;
    bool namesKnown_ = false;
    // Dynamic shared memory, the kernel's own variables, and what add() was given.
    std::vector<Range> variables_;
};

}  // namespace emu
