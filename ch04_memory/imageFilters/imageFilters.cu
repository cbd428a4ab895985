// From a colour picture to its edges, in three steps: grey-scale, blur, edges. The pixels are
// bytes, so a thread that takes one pixel at a time loads very little at a time.
//
//   1 greyBytes    a thread for each pixel: three loads of one byte
//   2 greyWords    four pixels to a thread: three loads of four bytes
//   3 blurBox      the mean of a square of pixels, each output by itself
//   4 blurSliding  a thread goes down a column, and keeps the sum of its square
//   5 edgesSobel   how much the brightness changes, along x and along y
//
// Each result is compared with that of the host, bit for bit: all numbers are whole. GB/s counts
// each byte of the input and of the output once.
//
//   ./lab run imageFilters -- --edges=edges.bmp
//   ./lab run imageFilters -- --input=photo.ppm --grey=grey.bmp --blurred=blurred.bmp
//   ./lab test imageFilters
//   ./lab profile imageFilters
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target imageFilters
//   build/ch04_memory/imageFilters --rows=4K --cols=4K
//   ncu build/ch04_memory/imageFilters --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/imageFilters/imageFilters.cu
//       common/*.cpp common/*.cu -o build/imageFilters
//
// --input=FILE reads a binary PPM or PGM. --picture (the input), --grey, --blurred and --edges each
// name a file to write: a BMP where the name ends in .bmp, else a PPM or PGM.

#include <cstddef>
#include <string>
#include <vector>

#include "filters.cuh"
#include "lab.cuh"
#include "picture.cuh"
#include "scene.h"

using Byte = unsigned char;

constexpr int kBlock = 256;     // threads of the kernels that take the picture as one long array
constexpr int kBlockCols = 32;  // threads of the others, side by side
constexpr int kBlockRows = 8;   // and below one another
constexpr int kStrip = 16;      // outputs below one another that a thread of blurSliding computes

// A thread takes one pixel. Still wrong: a load of a warp asks for 32 bytes, and the bytes between
// them are what the next two loads ask for.
__global__ void greyBytes(const Byte* __restrict__ rgb, Byte* __restrict__ grey,
                          std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) grey[i] = greyOf(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

// Four pixels are twelve bytes, which are three words: R G B R, G B R G, B R G B, the lowest
// address first. The pixels that fill no word are left to the first threads.
__global__ void greyWords(const Byte* __restrict__ rgb, Byte* __restrict__ grey,
                          std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count / 4) {
        const unsigned* const words = reinterpret_cast<const unsigned*>(rgb) + 3 * i;
        const unsigned a = words[0], b = words[1], c = words[2];
        reinterpret_cast<uchar4*>(grey)[i] =
            make_uchar4(greyOf(byteOf(a, 0), byteOf(a, 1), byteOf(a, 2)),
                        greyOf(byteOf(a, 3), byteOf(b, 0), byteOf(b, 1)),
                        greyOf(byteOf(b, 2), byteOf(b, 3), byteOf(c, 0)),
                        greyOf(byteOf(c, 1), byteOf(c, 2), byteOf(c, 3)));
    }
    if (i < count % 4) {
        const std::size_t j = count / 4 * 4 + i;
        grey[j] = greyOf(rgb[3 * j], rgb[3 * j + 1], rgb[3 * j + 2]);
    }
}

// The mean of the pixels whose row and column are at most `radius` away. Beyond the border stands
// the nearest pixel. Still wrong: the square of the next output has nearly the same pixels, and
// they are all loaded again.
__global__ void blurBox(GreyImage in, Byte* __restrict__ out, int radius) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = lab::blockY() * blockDim.y + threadIdx.y;
    if (row >= in.rows || col >= in.cols) return;

    unsigned sum = 0;
    for (int y = row - radius; y <= row + radius; ++y) sum += rowSum(in, y, col, radius);
    out[in.placeOf(row, col)] = meanOf(sum, radius);
}

// A thread computes kStrip outputs below one another. From one to the next, a row of pixels leaves
// the square at the top, and another enters at the bottom.
__global__ void blurSliding(GreyImage in, Byte* __restrict__ out, int radius) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = (lab::blockY() * blockDim.y + threadIdx.y) * kStrip;
    if (first >= in.rows || col >= in.cols) return;

    unsigned sum = 0;
    for (int y = first - radius; y <= first + radius; ++y) sum += rowSum(in, y, col, radius);
    for (int row = first; row < first + kStrip && row < in.rows; ++row) {
        out[in.placeOf(row, col)] = meanOf(sum, radius);
        sum += rowSum(in, row + radius + 1, col, radius);
        sum -= rowSum(in, row - radius, col, radius);
    }
}

// Sobel's operator: the differences between the pixels on the right and on the left, and between
// those below and above. Still wrong: a block loads each of its pixels eight times. The exercise
// convolution is about that.
__global__ void edgesSobel(GreyImage in, Byte* __restrict__ out) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = lab::blockY() * blockDim.y + threadIdx.y;
    if (row < in.rows && col < in.cols) out[in.placeOf(row, col)] = sobel(in, row, col);
}

int main(int argc, char** argv) {
    int rows, cols, radius;
    std::string inputName, pictureName, greyName, blurredName, edgesName;
    lab::Exercise exercise("imageFilters", "Grey-scale, blur and edges of a colour picture.");
    constexpr unsigned kMost = 65535;
    exercise.option("rows", &rows, {8192, 96}, 1, kMost, "rows of the built-in picture");
    exercise.option("cols", &cols, {8192, 144}, 1, kMost, "columns of the built-in picture");
    exercise.option("radius", &radius, {4, 2}, 1, 64, "the blur takes 2 * radius + 1 rows");
    exercise.options().file("input", &inputName, "PPM or PGM to read, else a built-in picture");
    exercise.options().file("picture", &pictureName, "the picture before all filters, to write");
    exercise.options().file("grey", &greyName, "what the grey-scale kernel computes, to write");
    exercise.options().file("blurred", &blurredName, "what the blur computes, to write");
    exercise.options().file("edges", &edgesName, "what the edge kernel computes, to write");
    exercise.parse(argc, argv);
    lab::Picture picture = inputName.empty()
                               ? scene(static_cast<unsigned>(cols), static_cast<unsigned>(rows))
                               : lab::readPicture(exercise, "input", inputName);
    makeColour(&picture);
    rows = static_cast<int>(picture.height);
    cols = static_cast<int>(picture.width);
    lab::OutputFile pictureFile(exercise, "picture", pictureName);
    lab::OutputFile greyFile(exercise, "grey", greyName);
    lab::OutputFile blurredFile(exercise, "blurred", blurredName);
    lab::OutputFile edgesFile(exercise, "edges", edgesName);
    exercise.title("%s x %s pixels, blur %d x %d", lab::withCommas(rows).c_str(),
                   lab::withCommas(cols).c_str(), 2 * radius + 1, 2 * radius + 1);

    // Each filter gets the host's result of the one before, so a wrong row spoils no other.
    const std::vector<Byte> grey = greyOnHost(picture.bytes);
    const std::vector<Byte> blurred = blurOnHost({grey.data(), rows, cols}, radius);
    const std::vector<Byte> edges = edgesOnHost({blurred.data(), rows, cols});
    const lab::DeviceBuffer<Byte> rgb(picture.bytes), greySource(grey), blurredSource(blurred);
    const GreyImage greyImage = {greySource.get(), rows, cols};
    const GreyImage blurredImage = {blurredSource.get(), rows, cols};
    const std::size_t count = grey.size();
    lab::DeviceBuffer<Byte> target(count);
    Byte* const out = target.get();

    // The file shows what the last kernel computed, right or wrong.
    const auto checked = [&](const std::vector<Byte>& expected, lab::Picture* found) {
        return [&, found] {
            *found = {picture.width, picture.height, 1, target.toHost()};
            return lab::inMatrix(lab::mismatch(found->bytes, expected), picture.width);
        };
    };
    lab::Picture foundGrey, foundBlurred, foundEdges;
    const lab::Work fourBytes = lab::bytes(4.0 * count), twoBytes = lab::bytes(2.0 * count);

    lab::Ladder greys(exercise, target);
    const unsigned pixels = lab::blocksFor(count, kBlock),
                   fours = lab::blocksFor(count, 4 * kBlock);
    greys.rung("greyBytes", pixels, kBlock, fourBytes, checked(grey, &foundGrey),
               [&] { greyBytes<<<pixels, kBlock>>>(rgb.get(), out, count); });
    greys.rung("greyWords", fours, kBlock, fourBytes, checked(grey, &foundGrey),
               [&] { greyWords<<<fours, kBlock>>>(rgb.get(), out, count); });

    lab::Ladder blurs(exercise, target);
    const dim3 block(kBlockCols, kBlockRows);
    const unsigned across = lab::blocksFor(cols, kBlockCols);
    const dim3 grid = lab::gridFor(across, lab::blocksFor(rows, kBlockRows), 1);
    blurs.rung("blurBox", grid, block, twoBytes, checked(blurred, &foundBlurred),
               [&] { blurBox<<<grid, block>>>(greyImage, out, radius); });
    const dim3 strips = lab::gridFor(across, lab::blocksFor(rows, kBlockRows * kStrip), 1);
    blurs.rung("blurSliding", strips, block, twoBytes, checked(blurred, &foundBlurred),
               [&] { blurSliding<<<strips, block>>>(greyImage, out, radius); });

    lab::Ladder last(exercise, target);
    last.rung("edgesSobel", grid, block, twoBytes, checked(edges, &foundEdges),
              [&] { edgesSobel<<<grid, block>>>(blurredImage, out); });

    lab::writePicture(pictureFile, picture);
    lab::writePicture(greyFile, foundGrey);
    lab::writePicture(blurredFile, foundBlurred);
    lab::writePicture(edgesFile, foundEdges);
    return exercise.finish();
}
