// Basic blocks read from instructions of AArch64, on whichever machine this runs.
// (profiler/constructs.cu has those of the machine itself.)
#include "instrument/record/basic_blocks.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace {

constexpr uint32_t kHook = 0x400, kHandler = 0x800;  // their places

// Code that is written down instruction by instruction.
class Code {
  public:
    Code& words(std::initializer_list<uint32_t> words) {
        for (const uint32_t word : words) append(word);
        return *this;
    }

    // A basic block, which is known by the place that this gives.
    uint32_t block() {
        call(kHook);
        return here();
    }

    Code& call(uint32_t place) {
        append(0x94000000 | ((place - here()) >> 2 & 0x3ffffff));
        return *this;
    }

    uint32_t here() const { return static_cast<uint32_t>(bytes_.size()); }

    emu::BasicBlock at(uint32_t place) const {
        emu::BasicBlocks blocks(emu::aarch64Code, bytes_.data(), kHook, kHandler);
        blocks.scan(0, here());
        return blocks.at(place);
    }

  private:
    void append(uint32_t word) {
        for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<uint8_t>(word >> 8 * i));
    }

    std::vector<uint8_t> bytes_;
};

void expectJump(const emu::BasicBlock& block, uint32_t target, bool ifTrue) {
    EXPECT_TRUE(block.conditional);
    EXPECT_FALSE(block.endsWithCall);
    EXPECT_EQ(block.target, target);
    EXPECT_EQ(block.jumpsIfTrue, ifTrue);
}

void expectNoJump(const emu::BasicBlock& block, bool endsWithCall) {
    EXPECT_FALSE(block.conditional);
    EXPECT_EQ(block.endsWithCall, endsWithCall);
}

constexpr uint32_t kNop = 0xd503201f, kReturn = 0xd65f03c0;

TEST(BasicBlocksOfAArch64, JumpForwardOverWhatIsGuarded) {
    const std::vector<uint32_t> jumps = {
        0x54000060,  // b.eq
        0x34000060,  // cbz w0
        0xb5000061,  // cbnz x1
        0x36380060,  // tbz w0, #7
        0xb7f80063,  // tbnz x3, #63
    };
    for (const uint32_t jump : jumps) {
        Code code;
        const uint32_t first = code.block();
        code.words({0x6b00003f, jump});  // cmp w1, w0; the jump, three instructions on
        const uint32_t guarded = code.block();
        code.words({kNop});
        const uint32_t join = code.block();
        code.words({kReturn});
        code.block();
        EXPECT_EQ(code.at(first).bytes, 8u);
        expectJump(code.at(first), join, false);
        expectNoJump(code.at(guarded), false);
        expectNoJump(code.at(join), false);
    }
}

TEST(BasicBlocksOfAArch64, ChecksOfIndicesHaveNoBytes) {
    Code code;
    const uint32_t place = code.block();
    code.words({kNop, 0xf1001c1f, 0x54000069, kNop}).call(kHandler).words({kNop});  // cmp, b.ls
    const uint32_t next = code.block();
    code.words({kNop, kNop}).call(kHandler);
    code.block();
    EXPECT_EQ(code.at(place).bytes, 8u);
    EXPECT_FALSE(code.at(next).endsWithCall);
}

TEST(BasicBlocksOfAArch64, JumpBackToALoop) {
    const std::vector<uint32_t> jumps = {
        0x54ffffcb,  // b.lt
        0x35ffffc0,  // cbnz w0
        0x3607ffc0,  // tbz w0, #0
    };
    for (const uint32_t jump : jumps) {
        Code code;
        const uint32_t body = code.block();
        const uint32_t step = code.block();
        code.words({jump, 0x14000001});  // and out of it: b
        code.block();
        expectNoJump(code.at(body), false);
        expectJump(code.at(step), body, true);
    }
}

TEST(BasicBlocksOfAArch64, JumpOnToWhatAComparisonOfNumbersGuards) {
    const std::vector<uint32_t> comparisons = {
        0x1e602030,  // fcmpe d1, d0
        0x1e202008,  // fcmp s0, #0.0
    };
    for (const uint32_t comparison : comparisons) {
        Code code;
        const uint32_t first = code.block();
        code.words({comparison, 0x5400004c, 0x14000002});  // b.gt guarded; b join
        const uint32_t guarded = code.block();
        code.block();
        code.block();
        expectJump(code.at(first), guarded, true);
    }
}

TEST(BasicBlocksOfAArch64, JumpToACaseOfASwitch) {
    Code code;
    const uint32_t first = code.block();
    code.words({0x7100101f, 0x54000040, 0x14000002});  // cmp w0, #4; b.eq; b
    const uint32_t only = code.block();
    code.block();
    expectJump(code.at(first), only, false);
}

TEST(BasicBlocksOfAArch64, OtherEnds) {
    Code code;
    const uint32_t first = code.block();
    code.words({0x94000400});  // bl
    const uint32_t second = code.block();
    code.words({0x54000020, 0xd61f0020});  // b.eq to the next instruction, br x1
    const uint32_t third = code.block();
    code.words({0x540000a0});  // b.eq to what is no block
    const uint32_t last = code.block();
    code.words({kReturn});
    expectNoJump(code.at(first), true);
    expectNoJump(code.at(second), false);
    expectNoJump(code.at(third), false);
    EXPECT_EQ(code.at(last).bytes, 0u);
}

}  // namespace
