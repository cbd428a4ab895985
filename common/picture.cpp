#include "picture.cuh"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "format.h"

namespace lab {
namespace {

constexpr unsigned kMostSide = 65535;  // pixels; BMP and most programs allow no more

// A number of the header. White space stands in front of it, and comments from # to the end of the
// line. 0 where there is no number, or one that is too large.
unsigned headerNumber(std::FILE* file) {
    int next = std::fgetc(file);
    while (next == '#' || std::isspace(next) != 0) {
        if (next == '#') {
            while (next != '\n' && next != EOF) next = std::fgetc(file);
        } else {
            next = std::fgetc(file);
        }
    }
    unsigned number = 0;
    for (; std::isdigit(next) != 0 && number <= kMostSide; next = std::fgetc(file))
        number = 10 * number + static_cast<unsigned>(next - '0');
    return std::isspace(next) != 0 && number <= kMostSide ? number : 0;
}

// Reads `size` bytes, or as many as there are: a header may promise more than the file has, so
// memory grows with what has come.
std::vector<unsigned char> bytesOf(std::FILE* file, std::size_t size) {
    constexpr std::size_t kPiece = std::size_t{16} << 20;
    std::vector<unsigned char> bytes;
    while (bytes.size() < size) {
        const std::size_t before = bytes.size(), piece = std::min(kPiece, size - before);
        bytes.resize(before + piece);
        const std::size_t came = std::fread(bytes.data() + before, 1, piece, file);
        bytes.resize(before + came);
        if (came < piece) break;
    }
    return bytes;
}

// What is wrong with the file; empty where it is a picture.
std::string wrongWith(std::FILE* file, Picture* picture) {
    const int p = std::fgetc(file), kind = std::fgetc(file);
    if (p != 'P' || (kind != '5' && kind != '6')) return "it begins with neither P5 nor P6";
    picture->channels = kind == '6' ? 3 : 1;
    picture->width = headerNumber(file);
    picture->height = headerNumber(file);
    const unsigned most = headerNumber(file);
    if (picture->width == 0 || picture->height == 0 || most == 0)
        return formatted("its header lacks a number of 1 to %u", kMostSide);
    if (most > 255) return formatted("its pixels go up to %u, expected at most 255", most);

    const std::size_t size = std::size_t{picture->width} * picture->height * picture->channels;
    picture->bytes = bytesOf(file, size);
    if (picture->bytes.size() < size)
        return formatted("it has %zu bytes of pixels, expected %zu", picture->bytes.size(), size);
    for (unsigned char& byte : picture->bytes)
        byte = static_cast<unsigned char>(std::min<unsigned>(byte, most) * 255 / most);
    return "";
}

void putNumber(std::FILE* file, std::uint32_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) std::fputc(static_cast<int>(number >> 8 * i & 0xFF), file);
}

// 24 bits for each pixel: blue, green, red. Rows from the bottom, each a multiple of 4 bytes long.
void writeBmp(std::FILE* file, const Picture& picture) {
    constexpr unsigned kHeader = 54;
    const std::size_t rowBytes = (std::size_t{3} * picture.width + 3) / 4 * 4;
    const auto size = static_cast<std::uint32_t>(kHeader + rowBytes * picture.height);
    std::fputs("BM", file);
    for (const std::uint32_t word : {size, 0u, kHeader, 40u, picture.width, picture.height})
        putNumber(file, word, 4);
    putNumber(file, 1, 2);   // plane
    putNumber(file, 24, 2);  // bits of a pixel
    for (int word = 0; word < 6; ++word) putNumber(file, 0, 4);

    const unsigned channels = picture.channels;
    std::vector<unsigned char> row(rowBytes);
    for (std::size_t y = picture.height; y-- > 0;) {
        const unsigned char* const from = &picture.bytes[y * picture.width * channels];
        for (std::size_t x = 0; x < picture.width; ++x) {
            for (unsigned c = 0; c < 3; ++c)
                row[3 * x + c] = from[x * channels + (channels == 3 ? 2 - c : 0)];
        }
        std::fwrite(row.data(), 1, row.size(), file);
    }
}

struct Closes {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

bool endsIn(const std::string& name, const std::string& end) {
    return name.size() >= end.size() &&
           name.compare(name.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Picture readPicture(const Exercise& exercise, const std::string& option, const std::string& name) {
    const std::string expected = "a binary PGM or PPM picture: ";
    const std::unique_ptr<std::FILE, Closes> file(std::fopen(name.c_str(), "rb"));
    if (file == nullptr) exercise.reject(option, name, expected + std::strerror(errno));
    Picture picture;
    const std::string wrong = wrongWith(file.get(), &picture);
    if (!wrong.empty()) exercise.reject(option, name, expected + wrong);
    return picture;
}

void writePicture(OutputFile& file, const Picture& picture) {
    if (file.stream() == nullptr || picture.bytes.empty()) return;
    if (endsIn(file.name(), ".bmp")) {
        writeBmp(file.stream(), picture);
    } else {
        std::fprintf(file.stream(), "P%c\n%u %u\n255\n", picture.channels == 3 ? '6' : '5',
                     picture.width, picture.height);
        std::fwrite(picture.bytes.data(), 1, picture.bytes.size(), file.stream());
    }
    file.close();
}

}  // namespace lab
