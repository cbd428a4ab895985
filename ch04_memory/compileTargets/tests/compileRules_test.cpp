// By hand, from the CUDA C++ Programming Guide's "Binary Compatibility" and "PTX Compatibility".

#include "compileRules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

// What a device uses of these, by CMake's names; "" for nothing.
std::string choice(unsigned device, const std::string& architectures,
                   Driver driver = Driver::kByDefault) {
    const File file = fileWith(architectures);
    const Code* const code = expectedOf(device, file, driver);
    if (code == nullptr) return "";
    return std::to_string(code->capability) + (code->machine ? "-real" : "-virtual");
}

TEST(CompileRules, MachineCodeRunsWithinItsGeneration) {
    EXPECT_EQ(choice(80, "80-real"), "80-real");
    EXPECT_EQ(choice(86, "80-real"), "80-real");
    EXPECT_EQ(choice(80, "86-real"), "");
    EXPECT_EQ(choice(90, "80-real"), "");
    EXPECT_EQ(choice(80, "90-real"), "");
    EXPECT_EQ(choice(103, "100-real"), "100-real");
    EXPECT_EQ(choice(110, "103-real"), "");
    EXPECT_EQ(choice(120, "110-real,100-real"), "");
}

TEST(CompileRules, PtxRunsOnItsArchitectureAndAllLaterOnes) {
    EXPECT_EQ(choice(75, "75-virtual"), "75-virtual");
    EXPECT_EQ(choice(90, "75-virtual"), "75-virtual");
    EXPECT_EQ(choice(121, "75-virtual"), "75-virtual");
    EXPECT_EQ(choice(90, "100-virtual"), "");
    EXPECT_EQ(choice(75, "80-virtual"), "");
}

TEST(CompileRules, MachineCodeComesFirstThenTheNewest) {
    EXPECT_EQ(choice(90, "75-virtual,90-real"), "90-real");
    EXPECT_EQ(choice(90, "90-virtual,80-real"), "90-virtual");
    EXPECT_EQ(choice(90, "80-virtual,90-virtual,75-virtual"), "90-virtual");
    EXPECT_EQ(choice(89, "80-real,86-real,90-real"), "86-real");
    EXPECT_EQ(choice(89, "86-real,80-real"), "86-real");
    EXPECT_EQ(choice(86, "90-virtual,80-real"), "80-real");
    EXPECT_EQ(choice(90, ""), "");
}

TEST(CompileRules, ForcedToPtxTheDriverIgnoresMachineCode) {
    EXPECT_EQ(choice(90, "90-real", Driver::kForcedToPtx), "");
    EXPECT_EQ(choice(90, "75-virtual,90-real", Driver::kForcedToPtx), "75-virtual");
    EXPECT_EQ(choice(90, "80-virtual,75-virtual", Driver::kForcedToPtx), "80-virtual");
}

TEST(CompileRules, Described) {
    EXPECT_EQ(described(fileWith("75-virtual,90-real")), "PTX 7.5, sm_90");
    EXPECT_EQ(described(fileWith("121-virtual")), "PTX 12.1");
    EXPECT_EQ(described(fileWith("100-real,103-real")), "sm_100, sm_103");
    EXPECT_EQ(described({}), "");
}

}  // namespace
