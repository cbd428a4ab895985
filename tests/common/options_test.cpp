#include "options.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace {

// The options of a typical exercise, and a command line parsed into them.
struct Line {
    std::size_t size = 1000;
    unsigned block = 256;
    bool csv = false;
    std::string kernel;
    lab::Options options;

    Line() {
        options.number("size", &size, 1, std::uint64_t{1} << 40, "number of elements");
        options.number("block", &block, 32, 1024, "threads", lab::Rule::kPowerOfTwo);
        options.flag("csv", &csv, "rows as CSV");
        options.text("kernel", &kernel, "NAME", "a part of a name", "which kernels");
    }

    std::string parse(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "program");
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        return options.parse(static_cast<int>(arguments.size()), argv.data());
    }
};

TEST(Options, TakeBothForms) {
    Line line;
    EXPECT_EQ(line.parse({"--size=12", "--block", "64", "--csv", "--kernel", "copy"}), "");
    EXPECT_EQ(line.size, 12u);
    EXPECT_EQ(line.block, 64u);
    EXPECT_TRUE(line.csv);
    EXPECT_EQ(line.kernel, "copy");
}

TEST(Options, TheLastOfTwoWins) {
    Line line;
    EXPECT_EQ(line.parse({"--size=12", "--size=13"}), "");
    EXPECT_EQ(line.size, 13u);
}

TEST(Options, SayWhatWasGivenEvenIfItIsTheDefault) {
    Line line;
    EXPECT_EQ(line.parse({"--size=1000", "--csv"}), "");
    EXPECT_TRUE(line.options.given("size"));
    EXPECT_TRUE(line.options.given("csv"));
    EXPECT_FALSE(line.options.given("block"));
    EXPECT_EQ(line.parse({"--block=64"}), "");
    EXPECT_FALSE(line.options.given("size"));
    EXPECT_TRUE(line.options.given("block"));
}

// 2^64 - 1 is the largest number; 2^64 and what is above it would wrap around.
TEST(Options, NumbersWithSuffixesFit64Bits) {
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    std::uint64_t number = 7;
    for (const char* tooLarge : {"18446744073709551616", "18446744073709551617", "99999999999G"})
        EXPECT_FALSE(lab::parseWhole(tooLarge, &number)) << tooLarge;
    int shift = 0;
    for (const std::string suffixes : {"", "Kk", "Mm", "Gg", "Tt"}) {
        for (const char suffix : suffixes) {
            const auto parse = [&](std::uint64_t value) {
                return lab::parseWhole(std::to_string(value) + suffix, &number);
            };
            const std::uint64_t largest = kMost >> shift;
            number = 7;
            for (const std::uint64_t tooLarge : {largest + 1, largest + 2, kMost})
                EXPECT_FALSE(parse(tooLarge)) << tooLarge << suffix;
            EXPECT_EQ(number, 7u) << suffix;
            EXPECT_TRUE(parse(largest)) << suffix;
            EXPECT_EQ(number, largest << shift) << suffix;
        }
        shift += 10;
    }
    EXPECT_TRUE(lab::parseWhole(std::to_string(kMost), &number));
    EXPECT_EQ(number, kMost);
}

TEST(Options, NumbersMayBeAtTheirLimits) {
    Line line;
    EXPECT_EQ(line.parse({"--size=1", "--block=32"}), "");
    EXPECT_EQ(line.parse({"--size=1099511627776", "--block=1024"}), "");
    EXPECT_EQ(line.size, std::size_t{1} << 40);
    EXPECT_EQ(line.block, 1024u);
}

TEST(Options, BadNumbersAreNamedWithWhatIsAllowed) {
    std::vector<std::string> all = {"", " 1", "1 ", "4\n4", "\xff\xfe"};
    all.push_back("\xef\xbc\x95");  // a full-width 5
    std::istringstream words(
        "0 -1 +1 abc 1e3 1e99 0x10 12a 12KB 12KK 5K5 1.5M 2T 1P K 1.5 1099511627777 "
        "1T1 4x 0x0 99999999999999999999 18446744073709551617 17179869184G 16777216T "
        "18014398509481985K -18446744073709551615");
    for (std::string word; words >> word;) all.push_back(word);
    for (const std::string& bad : all) {
        Line line;
        EXPECT_EQ(line.parse({"--size=" + bad}),
                  "--size=" + bad + ": expected a whole number from 1 to 1T");
        EXPECT_EQ(line.size, 1000u) << bad;
        EXPECT_EQ(line.parse({"--size", bad}),
                  "--size=" + bad + ": expected a whole number from 1 to 1T");
    }
}

TEST(Options, PowersOfTwo) {
    for (const std::string bad : {"0", "16", "31", "33", "48", "1000", "2048", "4294967328"}) {
        Line line;
        EXPECT_EQ(line.parse({"--block=" + bad}),
                  "--block=" + bad + ": expected a power of two from 32 to 1024");
        EXPECT_EQ(line.block, 256u) << bad;
    }
}

TEST(Options, WhatIsNotAnOptionIsNamed) {
    EXPECT_EQ(Line().parse({"--bogus"}), "--bogus: no such option");
    EXPECT_EQ(Line().parse({"--csv", "--bogus=3"}), "--bogus=3: no such option");
    EXPECT_EQ(Line().parse({"-x"}), "-x: no such option");
    EXPECT_EQ(Line().parse({"-xh"}), "-xh: no such option");
    EXPECT_EQ(Line().parse({"--=3"}), "--=3: no such option");
    EXPECT_EQ(Line().parse({"--csv=1"}), "--csv=1: takes no value");
    EXPECT_EQ(Line().parse({"stray"}), "stray: expected options, which begin with --");
    EXPECT_EQ(Line().parse({"--size=3", "stray", "--bogus"}),
              "stray: expected options, which begin with --");
    EXPECT_EQ(Line().parse({"-"}), "-: expected options, which begin with --");
    EXPECT_EQ(Line().parse({""}), "\"\": expected options, which begin with --");
    EXPECT_EQ(Line().parse({"\xff"}), "\xff: expected options, which begin with --");
    EXPECT_EQ(Line().parse({"--size=3", "--"}), "");
    EXPECT_EQ(Line().parse({"--", "--size=3"}), "--size=3: nothing is an option behind --");
}

TEST(Options, WhatMayHaveBeenMeantIsOffered) {
    for (const std::string typed : {"--siz=5", "--szie", "--sizes=5", "-size=5", "-s", "--Size=5"})
        EXPECT_EQ(Line().parse({typed}), typed + ": no such option; did you mean --size?");
    EXPECT_EQ(Line().parse({"--cvs=1"}), "--cvs=1: no such option; did you mean --csv?");
    EXPECT_EQ(Line().parse({"size=5"}),
              "size=5: expected options, which begin with --; did you mean --size?");
    Line line;
    std::size_t seed = 1;
    line.options.number("seed", &seed, 0, 9, "seed");
    EXPECT_EQ(line.parse({"--s=5"}), "--s=5: no such option; did you mean --size or --seed?");
    EXPECT_EQ(line.size, 1000u) << "an abbreviation is not taken";
}

TEST(Options, TheShortFormOfHelpIsTheOnlyOne) {
    Line line;
    EXPECT_EQ(line.parse({"-h"}), "-h: no such option") << "there is no --help";
    bool help = false;
    line.options.flag("help", &help, "this text");
    EXPECT_EQ(line.parse({"-hx"}), "-hx: no such option");
    EXPECT_EQ(line.parse({"-he"}), "-he: no such option; did you mean --help?");
    EXPECT_FALSE(help);
    EXPECT_EQ(line.parse({"-h"}), "");
    EXPECT_TRUE(help);
    EXPECT_TRUE(line.options.given("help"));
    EXPECT_EQ(line.parse({"--help=5"}), "--help=5: takes no value");
}

TEST(Options, VeryLongValuesAreShortened) {
    EXPECT_EQ(Line().parse({"--size=" + std::string(5000, '9')}),
              "--size=" + std::string(60, '9') +
                  "... (5000 bytes): expected a whole number from 1 to 1T");
    EXPECT_EQ(Line().parse({"--" + std::string(5000, 'x')}),
              "--" + std::string(58, 'x') + "... (5002 bytes): no such option");
    EXPECT_EQ(Line().parse({std::string(5000, 'x')}),
              std::string(60, 'x') + "... (5000 bytes): expected options, which begin with --");
}

TEST(Options, HelpNamesTheDefaultOfTheProgram) {
    Line line;
    const std::string help = line.options.help();
    EXPECT_EQ(line.parse({"--block=64"}), "");
    EXPECT_EQ(line.options.help(), help);
}

TEST(Options, FilesAreNamedButNotAmongTheValues) {
    Line line;
    std::string name;
    line.options.file("timeline", &name, "when it ran");
    EXPECT_EQ(line.parse({"--timeline=t.csv"}), "");
    EXPECT_EQ(name, "t.csv");
    EXPECT_EQ(line.options.values(9), "size=1000 block=256");
    EXPECT_EQ(line.parse({"--timeline="}), "--timeline=: expected a file name");
}

TEST(Options, NumbersThatWereGivenAreKnownAsTheyWereTyped) {
    Line line;
    EXPECT_EQ(line.parse({"--size=3M", "--csv", "--kernel=x"}), "");
    EXPECT_EQ(line.options.givenNumbers(4), "--size=3M");
    EXPECT_EQ(line.parse({"--block=64", "--size", "1k"}), "");
    EXPECT_EQ(line.options.givenNumbers(4), "--size=1k --block=64");
    EXPECT_EQ(line.options.givenNumbers(1), "--size=1k");
    EXPECT_EQ(line.parse({}), "");
    EXPECT_EQ(line.options.givenNumbers(4), "");
}

TEST(Options, ValuesOfTheFirstOnes) {
    Line line;
    EXPECT_EQ(line.parse({"--size=12", "--csv"}), "");
    EXPECT_EQ(line.options.values(4), "size=12 block=256");
    EXPECT_EQ(line.options.values(1), "size=12");
    EXPECT_EQ(line.options.values(0), "");
}

}  // namespace
