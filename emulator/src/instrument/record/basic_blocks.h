// The basic blocks of code that calls a hook at the beginning of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine_code.h"

namespace emu {

struct BasicBlock {
    uint32_t bytes;     // of machine code, without checks of indices; 0: the block is not known
    bool endsWithCall;  // not with a jump: the next block is separate only because of exceptions
    bool conditional;   // ends with a conditional jump
    uint32_t target;    // of that jump: a block
    bool jumpsIfTrue;   // it is taken where the source's condition holds, and not where it fails
};

// A block is named by the place behind its call of the hook.
class BasicBlocks {
  public:
    // Code at `code` + place, in which `hook` is the hook's place, and `handler` that of what is
    // called for an index outside of its array: the check of that is not the source's.
    BasicBlocks(const MachineCode& machine, const uint8_t* code, uint32_t hook, uint32_t handler)
        : machine_(machine), code_(code), hook_(hook), handler_(handler) {}

    // Looks for blocks in [begin, end), which lies behind what was scanned before.
    void scan(uint32_t begin, uint32_t end);

    BasicBlock at(uint32_t place) const;

  private:
    bool isBlock(uint32_t place) const;
    void findJump(uint32_t begin, uint32_t end, BasicBlock* block) const;

    const MachineCode& machine_;
    const uint8_t* const code_;
    const uint32_t hook_, handler_;
    std::vector<uint32_t> places_;
    std::vector<uint32_t> checks_;  // their calls
};

}  // namespace emu
