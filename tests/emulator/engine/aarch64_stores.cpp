// Which instructions of AArch64 write to memory, whichever machine this runs on.
#include <gtest/gtest.h>

#include "engine/aarch64_store.h"

namespace {

TEST(AArch64Store, KnowsStores) {
    const uint32_t stores[] = {
        0xb9000001,  // str w1, [x0]
        0xf8008c01,  // str x1, [x0, #8]!
        0x78226801,  // strh w1, [x0, x2]
        0x3d800400,  // str q0, [x0, #16]
        0x3c810400,  // str q0, [x0], #16
        0xbc226800,  // str s0, [x0, x2]
        0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
        0xad000400,  // stp q0, q1, [x0]
        0x4c00a000,  // st1 {v0.16b, v1.16b}, [x0]
        0x889ffc01,  // stlr w1, [x0]
        0x88037c01,  // stxr w3, w1, [x0]
        0x88e1fc02,  // casal w1, w2, [x0]
        0xb8e10002,  // ldaddal w1, w2, [x0]
        0xd50b7420,  // dc zva, x0
    };
    for (const uint32_t store : stores)
        EXPECT_TRUE(emu::isAArch64Store(store)) << std::hex << store;
}

TEST(AArch64Store, KnowsWhatIsNone) {
    const uint32_t others[] = {
        0xb9400001,  // ldr w1, [x0]
        0xb9800001,  // ldrsw x1, [x0]
        0xf8408c01,  // ldr x1, [x0, #8]!
        0x78626801,  // ldrh w1, [x0, x2]
        0x39c00001,  // ldrsb w1, [x0]
        0x3dc00400,  // ldr q0, [x0, #16]
        0xa8c17bfd,  // ldp x29, x30, [sp], #16
        0xad400400,  // ldp q0, q1, [x0]
        0x4c40a000,  // ld1 {v0.16b, v1.16b}, [x0]
        0x88dffc01,  // ldar w1, [x0]
        0x885ffc01,  // ldaxr w1, [x0]
        0x18000040,  // ldr w0, a literal
        0x0b010000,  // add w0, w0, w1
        0x1e602030,  // fcmpe d1, d0
        0xd503201f,  // nop
    };
    for (const uint32_t other : others)
        EXPECT_FALSE(emu::isAArch64Store(other)) << std::hex << other;
}

}  // namespace
