#include "picture.cuh"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace {

// A folder that is gone at the end of the test.
class PictureTest : public testing::Test {
  protected:
    PictureTest() {
        char name[] = "/tmp/picture.XXXXXX";
        EXPECT_NE(mkdtemp(name), nullptr);
        folder_ = name;
    }
    ~PictureTest() override { std::filesystem::remove_all(folder_); }

    std::string place(const std::string& name) const { return folder_ + "/" + name; }

    // What `write` writes into the file.
    std::string fileBy(const std::string& name,
                       const std::function<void(lab::OutputFile&)>& write) const {
        lab::OutputFile file(exercise_, "picture", place(name));
        EXPECT_FALSE(std::filesystem::exists(place(name)));
        write(file);
        std::ifstream stream(place(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    std::string pgmOf(unsigned width, unsigned height, unsigned most,
                      const std::vector<unsigned>& pixels) const {
        return fileBy("p.pgm", [&](lab::OutputFile& file) {
            lab::writePgm(file, width, height, most, pixels);
        });
    }
    lab::Picture pictureIn(const std::string& content) const {
        std::ofstream(place("in"), std::ios::binary) << content;
        return lab::readPicture(exercise_, "input", place("in"));
    }
    void isRefused(const std::string& content, const std::string& why) const {
        EXPECT_EXIT(pictureIn(content), testing::ExitedWithCode(2), why) << content;
    }

    const lab::Exercise exercise_{"test", "A test."};
    std::string folder_;
};

TEST_F(PictureTest, PgmOfOneByteForEachPixel) {
    EXPECT_EQ(pgmOf(3, 2, 255, {65, 66, 67, 68, 0, 255}),
              std::string("P5\n3 2\n255\nABCD\0\xFF", 17));
}

TEST_F(PictureTest, PgmOfTwoBytesTheHighOneFirst) {
    EXPECT_EQ(pgmOf(1, 2, 65535, {0x4142, 0x43}), std::string("P5\n1 2\n65535\nAB\0C", 17));
}

TEST_F(PictureTest, NoFileIsNone) {
    lab::OutputFile file(exercise_, "picture", "");
    EXPECT_EQ(file.stream(), nullptr);
    file.close();
}

TEST_F(PictureTest, IsReadAsItWasWritten) {
    for (const unsigned channels : {1u, 3u}) {
        lab::Picture picture = {2, 3, channels, {}};
        for (unsigned i = 0; i < 6 * channels; ++i)
            picture.bytes.push_back(static_cast<unsigned char>(255 - 7 * i));
        const std::string content =
            fileBy("p" + std::to_string(channels) + ".ppm",
                   [&](lab::OutputFile& file) { lab::writePicture(file, picture); });
        const lab::Picture found = pictureIn(content);
        EXPECT_EQ(found.width, 2u);
        EXPECT_EQ(found.height, 3u);
        EXPECT_EQ(found.channels, channels);
        EXPECT_EQ(found.bytes, picture.bytes);
    }
}

TEST_F(PictureTest, BmpHasItsRowsFromTheBottomAndBlueFirst) {
    const lab::Picture picture = {1, 2, 3, {'R', 'G', 'B', 'r', 'g', 'b'}};
    const std::string content =
        fileBy("p.bmp", [&](lab::OutputFile& file) { lab::writePicture(file, picture); });
    ASSERT_EQ(content.size(), 54u + 8);
    EXPECT_EQ(content.substr(0, 6), std::string("BM\x3E\0\0\0", 6));
    EXPECT_EQ(content.substr(18, 8), std::string("\1\0\0\0\2\0\0\0", 8));
    EXPECT_EQ(content.substr(54), std::string("bgr\0BGR\0", 8));
}

TEST_F(PictureTest, GreyBmpHasEqualChannels) {
    const lab::Picture picture = {1, 1, 1, {'x'}};
    const std::string content =
        fileBy("p.bmp", [&](lab::OutputFile& file) { lab::writePicture(file, picture); });
    EXPECT_EQ(content.substr(54), std::string("xxx\0", 4));
}

TEST_F(PictureTest, CommentsAndOtherWhites) {
    const lab::Picture found = pictureIn("P5 # grey\n2\n#so many rows:\n1 10\n\x05\x0A");
    EXPECT_EQ(found.bytes, (std::vector<unsigned char>{127, 255}));
}

TEST_F(PictureTest, WhatIsNoPictureIsRefused) {
    isRefused("", "begins with neither P5 nor P6");
    isRefused("P3\n1 1\n255\n1 2 3", "begins with neither P5 nor P6");
    isRefused("P5", "lacks a number");
    isRefused("P5\n-1 1\n255\n ", "lacks a number");
    isRefused("P5\n0 1\n255\n", "lacks a number");
    isRefused("P5\n99999999999999999999 1\n255\n", "lacks a number");
    isRefused("P5\n65536 1\n255\n", "lacks a number");
    isRefused("P5\n1 1\n65535\n12", "go up to 65535, expected at most 255");
    isRefused("P6\n2 1\n255\n12345", "it has 5 bytes of pixels, expected 6");
    isRefused("P6\n65535 65535\n255\n12345", "it has 5 bytes of pixels");
    EXPECT_EXIT(lab::readPicture(exercise_, "input", folder_), testing::ExitedWithCode(2),
                "--input=.*neither P5 nor P6");
    EXPECT_EXIT(lab::readPicture(exercise_, "input", place("none")), testing::ExitedWithCode(2),
                "--input=.*No such file");
}

}  // namespace
