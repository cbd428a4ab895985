#include "pgmImage.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

std::string written(unsigned width, unsigned height, unsigned most,
                    const std::vector<unsigned>& pixels) {
    char folder[] = "/tmp/pgm_image.XXXXXX";
    EXPECT_NE(mkdtemp(folder), nullptr);
    const std::string name = std::string(folder) + "/i.pgm";
    const lab::Exercise exercise("test", "A test.");
    lab::OutputFile file(exercise, "image", name);
    EXPECT_FALSE(std::filesystem::exists(name));
    writePgm(file, width, height, most, pixels);
    std::ifstream stream(name, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(stream), {}};
    std::filesystem::remove_all(folder);
    return content;
}

TEST(PgmImage, OneByteOfEachPixel) {
    EXPECT_EQ(written(3, 2, 255, {65, 66, 67, 68, 0, 255}),
              std::string("P5\n3 2\n255\nABCD\0\xFF", 17));
}

TEST(PgmImage, TwoBytesTheHighOneFirst) {
    EXPECT_EQ(written(1, 2, 65535, {0x4142, 0x43}), std::string("P5\n1 2\n65535\nAB\0C", 17));
}

TEST(PgmImage, NoFileIsNone) {
    const lab::Exercise exercise("test", "A test.");
    lab::OutputFile file(exercise, "image", "");
    EXPECT_EQ(file.stream(), nullptr);
    file.close();
}

}  // namespace
