#pragma once
// Images of grey values as PGM, which most viewers know.

#include <cstdio>
#include <vector>

#include "output_file.cuh"

// `most` is white; above 255, a pixel takes two bytes, the high one first.
template <typename T>
void writePgm(lab::OutputFile& file, unsigned width, unsigned height, unsigned most,
              const std::vector<T>& pixels) {
    std::fprintf(file.stream(), "P5\n%u %u\n%u\n", width, height, most);
    for (const unsigned pixel : pixels) {
        if (most > 255) std::fputc(static_cast<int>(pixel >> 8 & 0xFF), file.stream());
        std::fputc(static_cast<int>(pixel & 0xFF), file.stream());
    }
    file.close();
}
