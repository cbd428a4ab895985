#pragma once
// Pictures as files: binary PGM (grey) and PPM (colour), which most viewers know, and BMP, which
// all of them do.

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "output_file.cuh"

namespace lab {

// Eight bits for each channel. Rows from the top; the channels of a pixel are neighbours.
struct Picture {
    unsigned width = 0, height = 0;
    unsigned channels = 1;  // 1: grey; 3: red, green, blue
    std::vector<unsigned char> bytes;
};

// File `name`, which came with --`option`. A file that is no such picture ends the program with one
// line and exit status 2.
Picture readPicture(const Exercise& exercise, const std::string& option, const std::string& name);

// A BMP where the file's name ends in .bmp, else a PGM or PPM. Nothing where there is no file, or
// no pixel.
void writePicture(OutputFile& file, const Picture& picture);

// A PGM of numbers from 0 to `most`, which is white; above 255, a pixel takes two bytes, the high
// one first.
template <typename T>
void writePgm(OutputFile& file, unsigned width, unsigned height, unsigned most,
              const std::vector<T>& pixels) {
    std::fprintf(file.stream(), "P5\n%u %u\n%u\n", width, height, most);
    for (const unsigned pixel : pixels) {
        if (most > 255) std::fputc(static_cast<int>(pixel >> 8 & 0xFF), file.stream());
        std::fputc(static_cast<int>(pixel & 0xFF), file.stream());
    }
    file.close();
}

}  // namespace lab
