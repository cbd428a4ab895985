#include "basic_blocks.h"

#include <algorithm>

namespace emu {

void BasicBlocks::scan(uint32_t begin, uint32_t end) {
    const uint32_t size = machine_.callSize;
    for (uint32_t place = begin; end - place >= size; place += machine_.alignment) {
        if (!machine_.isCall(code_, place)) continue;
        const uint32_t target = machine_.callTarget(code_, place);
        if (target == hook_) places_.push_back(place + size);
        if (target == handler_) checks_.push_back(place);
    }
}

BasicBlock BasicBlocks::at(uint32_t place) const {
    const auto found = std::lower_bound(places_.begin(), places_.end(), place);
    if (found == places_.end() || *found != place || found + 1 == places_.end()) return {};
    const uint32_t end = found[1] - machine_.callSize;
    BasicBlock block{end - place, false, false, 0, false};
    findJump(place, end, &block);
    block.endsWithCall = !block.conditional && block.bytes >= machine_.callSize &&
                         machine_.isCall(code_, end - machine_.callSize) &&
                         machine_.callTarget(code_, end - machine_.callSize) != handler_;
    for (auto check = std::lower_bound(checks_.begin(), checks_.end(), place);
         check != checks_.end() && *check < end; ++check) {
        block.bytes -= machine_.checkSize(code_, *check);
    }
    return block;
}

bool BasicBlocks::isBlock(uint32_t place) const {
    return std::binary_search(places_.begin(), places_.end(), place);
}

// Compilers jump forward where the source's condition does not hold, over what it guards, and back
// where it does, to a loop's body.
void BasicBlocks::findJump(uint32_t begin, uint32_t end, BasicBlock* block) const {
    for (const ConditionalJump& jump : machine_.jumpsAtEnd(code_, begin, end)) {
        const uint32_t target = jump.target + machine_.callSize;
        if (!isBlock(target)) continue;
        block->conditional = true;
        block->target = target;
        block->jumpsIfTrue = jump.jumpsIfTrue || target <= begin;
        return;
    }
}

}  // namespace emu
