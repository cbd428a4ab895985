// The basic blocks of code that calls a hook at the beginning of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine_code.h"

namespace emu {

struct BasicBlock {
    uint32_t bytes;     // of machine code; 0 where the block is not known
    bool endsWithCall;  // not with a jump: the next block is separate only because of exceptions
    bool conditional;   // ends with a conditional jump
    uint32_t target;    // of that jump: a block
    bool jumpsIfTrue;   // it is taken where the source's condition holds, and not where it fails
};

// A block is named by the place behind its call of the hook.
class BasicBlocks {
  public:
    // Code at `code` + place, in which `hook` is the hook's place.
    BasicBlocks(const MachineCode& machine, const uint8_t* code, uint32_t hook)
        : machine_(machine), code_(code), hook_(hook) {}

    // Looks for blocks in [begin, end), which lies behind what was scanned before.
    void scan(uint32_t begin, uint32_t end);

    BasicBlock at(uint32_t place) const;

  private:
    bool isBlock(uint32_t place) const;
    void findJump(uint32_t begin, uint32_t end, BasicBlock* block) const;

    const MachineCode& machine_;
    const uint8_t* const code_;
    const uint32_t hook_;
    std::vector<uint32_t> places_;
};

}  // namespace emu
