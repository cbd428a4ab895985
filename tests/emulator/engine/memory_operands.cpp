// What an instruction reaches, told from its bytes.
#include <gtest/gtest.h>

#include <vector>

#include "engine/memory_operand.h"

#ifdef __x86_64__

namespace {

using emu::memoryOperand;
using Bytes = std::vector<unsigned char>;

constexpr greg_t kRax = 0x100000, kRcx = 0x20, kRdi = 0x300000, kR8 = 0x400000, kR9 = 0x50;

std::optional<emu::MemoryOperand> operandOf(Bytes instruction) {
    instruction.resize(16, 0x90);  // nop
    ucontext_t context{};
    greg_t* const registers = context.uc_mcontext.gregs;
    registers[REG_RAX] = kRax;
    registers[REG_RCX] = kRcx;
    registers[REG_RDI] = kRdi;
    registers[REG_R8] = kR8;
    registers[REG_R9] = kR9;
    registers[REG_RIP] = reinterpret_cast<greg_t>(instruction.data());
    return memoryOperand(context);
}

void expect(greg_t address, bool mayBeVector, const Bytes& instruction) {
    const auto operand = operandOf(instruction);
    ASSERT_TRUE(operand);
    EXPECT_EQ(static_cast<uintptr_t>(address), operand->address);
    EXPECT_EQ(mayBeVector, operand->mayBeVector);
}

TEST(MemoryOperand, OfMoves) {
    expect(kRax, false, {0x8b, 0x10});                                    // mov (%rax),%edx
    expect(kRdi - 8, false, {0x48, 0x89, 0x47, 0xf8});                    // mov %rax,-8(%rdi)
    expect(kRax + 4 * kRcx + 2, false, {0x66, 0x8b, 0x54, 0x88, 0x02});   // 2(%rax,%rcx,4)
    expect(kR8 + 8 * kR9, false, {0x4b, 0x8b, 0x14, 0xc8});               // (%r8,%r9,8)
    expect(2 * kRcx + 0x1000, false, {0x8b, 0x14, 0x4d, 0, 0x10, 0, 0});  // 0x1000(,%rcx,2)
    expect(kRax, false, {0xc7, 0x00, 1, 0, 0, 0});                        // movl $1,(%rax)
    expect(kRax, true, {0x0f, 0xb6, 0x10});                               // movzbl (%rax),%edx
    expect(kRax + 0x200, false, {0xff, 0x90, 0x00, 0x02, 0x00, 0x00});    // call *0x200(%rax)
}

TEST(MemoryOperand, OfVectors) {
    expect(kRdi + 16, true, {0x0f, 0x28, 0x47, 0x10});              // movaps 16(%rdi),%xmm0
    expect(kR8, true, {0x66, 0x41, 0x0f, 0x7f, 0x00});              // movdqa %xmm0,(%r8)
    expect(kRax, true, {0x66, 0x0f, 0x38, 0x00, 0x00});             // pshufb (%rax),%xmm0
    expect(kRax, true, {0x66, 0x0f, 0x3a, 0x0f, 0x00, 4});          // palignr $4,(%rax),%xmm0
    expect(kRax, true, {0xc5, 0xf8, 0x28, 0x00});                   // vmovaps (%rax),%xmm0
    expect(kR8 + kR9, true, {0xc4, 0x81, 0x78, 0x28, 0x04, 0x08});  // vmovaps (%r8,%r9),%xmm0
}

TEST(MemoryOperand, OfAtomics) {
    expect(kRax + 8, false, {0xf0, 0x83, 0x40, 0x08, 0x01});  // lock addl $1,8(%rax)
    expect(kRdi, true, {0xf0, 0x48, 0x0f, 0xc1, 0x07});       // lock xadd %rax,(%rdi)
    expect(kRdi, true, {0x66, 0xf0, 0x0f, 0xb1, 0x0f});       // lock cmpxchg %cx,(%rdi)
    expect(kRax, false, {0xf0, 0xff, 0x00});                  // lock incl (%rax)
}

TEST(MemoryOperand, IsNotInvented) {
    const std::vector<Bytes> others = {
        {0xf3, 0xa4},                          // rep movsb
        {0xf3, 0x48, 0xab},                    // rep stos %rax,(%rdi)
        {0xaa},                                // stos %al,(%rdi)
        {0xa1, 0, 0, 0, 0, 0, 0, 0, 0x80},     // movabs 0x8000000000000000,%eax
        {0x64, 0x8b, 0x00},                    // mov %fs:(%rax),%eax
        {0x65, 0x48, 0x8b, 0x00},              // mov %gs:(%rax),%rax
        {0x67, 0x8b, 0x00},                    // mov (%eax),%eax
        {0x66, 0x2e, 0x0f, 0x1f, 0x00},        // cs nopw (%rax)
        {0x62, 0xf1, 0x7c, 0x48, 0x28, 0x00},  // vmovaps (%rax),%zmm0
        {0xc4, 0xe2, 0x69, 0x92, 0x04, 0x88},  // vgatherdps %xmm2,(%rax,%xmm1,4),%xmm0
        {0x8b, 0x05, 0, 1, 0, 0},              // mov 0x100(%rip),%eax
        {0x8b, 0xc1},                          // mov %ecx,%eax
        {0x50},                                // push %rax
        {0xc3},                                // ret
        {0xe8, 0, 0, 0, 0},                    // call
        {0x0f, 0x84, 0, 0, 0, 0},              // je
        {0xf4},                                // hlt
    };
    for (const Bytes& instruction : others) {
        EXPECT_FALSE(operandOf(instruction)) << testing::PrintToString(instruction);
    }
}

}  // namespace

#endif
