// Where launches from a kernel pay: work of which only the GPU finds out how much there is. In an
// image of the Mandelbrot set, a rectangle whose border has one dwell has it inside, too, and is
// filled; any other is divided, and its parts looked at in the same way (Mariani and Silver).
//
//   1 everyPixel      a thread for each pixel
//   2 unrolledPixels  the same, but looks only after every sixteenth step
//   3 nestedGrids     a block for each rectangle, which launches a grid of blocks for its parts
//   4 workQueue       blocks that stay, and take rectangles from a queue until all are done: one
//                     launch
//
// The dwell of a pixel is the number of steps z = z * z + c that z, which begins at 0, takes
// without leaving. All rungs do the same operations with it and must have the image of the CPU bit
// for bit. dwells.cuh has these operations, and what a block does with a rectangle;
// rectangleQueue.cuh has the queue.
//
//   ./lab run mandelbrot -- --width=1920 --height=1280 --dwell=1000 --image=image.pgm
//   ./lab test mandelbrot
//   ./lab trace mandelbrot
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target mandelbrot
//   build/dynamic_parallelism/mandelbrot --width=1920 --height=1280 --dwell=1000
//   nsys profile build/dynamic_parallelism/mandelbrot --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -rdc=true -Icommon dynamic_parallelism/mandelbrot/mandelbrot.cu
//       common/*.cpp common/*.cu -o build/mandelbrot
//
// Launches from a kernel need relocatable device code and the device runtime library: nvcc with
// -rdc=true and -lcudadevrt, which is what rdc in exercise.toml stands for. --image=FILE writes
// the image and --map=FILE which pixels were computed (1) and which filled (0), as PGM.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "../pendingLaunches.cuh"
#include "dwells.cuh"
#include "escapeTime.h"
#include "lab.cuh"
#include "picture.cuh"
#include "rectangleQueue.cuh"
#include "rectangles.cuh"

// Looks at |z| at each step: that and the loop take more instructions than the step itself.
__global__ void everyPixel(unsigned* image, View view) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < view.width) image[placeOf(view, x, y)] = dwellOf<1>(view, x, y);
}

// More than half of the instructions are gone. Still every pixel of the set takes all of its steps.
__global__ void unrolledPixels(unsigned* image, View view) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < view.width) image[placeOf(view, x, y)] = dwellOf<kUnroll>(view, x, y);
}

// Block (i, j) takes part (i, j) of `whole`. The children need nothing of each other, and nobody
// waits for them: the grid is complete when they are. A launch takes a while, and there is room
// for a limited number of them (cudaLimitDevRuntimePendingLaunchCount): one that is refused must
// not be lost.
__global__ void nestedGrids(unsigned* image, View view, unsigned least, Rectangle whole,
                            Counts* counts) {
    __shared__ bool refused;
    Rectangle rest = part(whole, gridDim.x, gridDim.y, blockIdx.x, blockIdx.y);
    if (!leavesInside(image, view, least, &rest, counts)) return;
    if (threadIdx.x == 0) {
        nestedGrids<<<dim3(kParts, kParts), blockDim.x, 0, cudaStreamFireAndForget>>>(
            image, view, least, rest, counts);
        const cudaError_t error = cudaGetLastError();
        refused = error != cudaSuccess;
        if (refused) {
            atomicExch(&counts->refusal, static_cast<unsigned long long>(error));
        } else {
            atomicAdd(&counts->divided, 1ull);
        }
    }
    __syncthreads();
    if (refused) compute(image, view, rest);
}

// No launch but the first, as many blocks as the GPU holds, and all of them busy to the end.
__global__ void workQueue(unsigned* image, View view, unsigned least, Tiles tiles, Queue* queue,
                          unsigned long long* places, Counts* counts) {
    __shared__ unsigned long long word;
    for (;;) {
        if (threadIdx.x == 0) word = taken(view, tiles, queue, places);
        __syncthreads();
        if (word == 0) return;
        Rectangle rest = unpacked(word);
        const bool divide = leavesInside(image, view, least, &rest, counts);
        __syncthreads();  // all have read `word`, whatever leavesInside() does
        if (threadIdx.x == 0) {
            if (divide) {
                add(queue, places, rest);
                atomicAdd(&counts->divided, 1ull);
            }
            atomicSub(&queue->open, 1u);
        }
    }
}

// The image that all must have. The CPU computes it, or where that would take long, the first
// kernel; then the CPU has its say about as many pixels as it can compute in a moment.
std::vector<unsigned> fullImage(const View& view, lab::DeviceBuffer<unsigned>& image, dim3 grid,
                                unsigned block) {
    const std::size_t steps = std::size_t{1} << (lab::kEmulated ? 24 : 30);  // a moment
    const std::size_t stride = image.size() / std::max<std::size_t>(1, steps / view.dwell) + 1;
    if (stride == 1) return imageOnHost(view);
    everyPixel<<<grid, block>>>(image.get(), view);
    CUDA_CHECK_LAUNCH();
    std::vector<unsigned> full = image.toHost();
    putSampleOfHost(view, stride, &full);
    return full;
}

int main(int argc, char** argv) {
    unsigned width, height, dwell, tile, least, block;
    std::string imageName, mapName;
    lab::Exercise exercise("mandelbrot",
                           "An image of the Mandelbrot set: every pixel, or borders and what is "
                           "not of one dwell.");
    constexpr unsigned kMost = 65535;  // fits into a quarter of the word of a queue
    exercise.option("width", &width, {4096, 192}, 1, kMost, "pixels of a line");
    exercise.option("height", &height, {4096, 128}, 1, kMost, "lines");
    exercise.option("dwell", &dwell, {1024, 64}, 1, kMost, "steps after which a pixel stays");
    exercise.option("tile", &tile, {128, 64}, 8, 1024, "sides of the first rectangles, at most");
    exercise.option("least", &least, {32, 8}, kParts, 1024,
                    "sides of an inside that is not divided");
    exercise.option("block", &block, {256, 64}, 1, lab::kMaxBlock, "threads per block");
    exercise.options().file("image", &imageName, "PGM of the image");
    exercise.options().file("map", &mapName, "PGM of what was computed (1) and filled (0)");
    exercise.parse(argc, argv);
    if (!mapName.empty() && mapName == imageName)
        exercise.reject("map", mapName, "another file than --image");
    exercise.columns(lab::Columns::kLadder,
                     {{"rects", 8, "rectangles"},
                      {"launches", 8, "launches"},
                      {"computed", 9, "computed"},
                      {"filled", 9, "filled"},
                      {"", 0, "differ"}},
                     {"grid", "block"});
    bool any = false;
    for (const char* const kernel : {"everyPixel", "unrolledPixels", "nestedGrids", "workQueue"}) {
        any = exercise.selected(kernel) || any;
    }
    if (!any) return exercise.finish();  // before files are opened: bad usage leaves them alone
    lab::OutputFile imageFile(exercise, "image", imageName);
    lab::OutputFile mapFile(exercise, "map", mapName);
    exercise.title("%u x %u pixels, dwell up to %u", width, height, dwell);

    const View view = viewOf(width, height, dwell);
    const std::size_t pixels = std::size_t{width} * height;
    const dim3 lines(lab::blocksFor(width, block), height);
    const Tiles tiles = {lab::blocksFor(width, tile), lab::blocksFor(height, tile)};
    const unsigned resident = exercise.device().residentBlocks(block);

    lab::DeviceBuffer<unsigned> image(pixels);
    lab::DeviceBuffer<Counts> counts(1);
    const lab::DeviceBuffer<Queue> fresh(std::vector<Queue>{{0, 0, tiles.count()}});
    lab::DeviceBuffer<Queue> queue(1);
    // A place for each rectangle that may be added, and for each ticket that comes to nothing.
    lab::DeviceBuffer<unsigned long long> places(tiles.count() * (mostRectangles(tile, least) - 1) +
                                                 resident);
    places.fillBytes(0);

    const std::vector<unsigned> full = fullImage(view, image, lines, block);
    const Subdivision expected = Subdivider(full, view, tile, least).result();
    const auto differ = static_cast<std::size_t>(
        std::inner_product(full.begin(), full.end(), expected.image.begin(), std::ptrdiff_t{0},
                           std::plus<>(), std::not_equal_to<>()));

    // All launches may be pending at a time, and the host knows how many there will be. Who does
    // not know asks for more, or has some refused.
    const std::size_t pending = allowPendingLaunches(
        std::clamp(expected.divided, kDefaultPendingLaunches, kMostPendingLaunches));

    // What comes of the kernels that compute every pixel, and of those that divide rectangles.
    const auto ofEvery = [&]() -> lab::Finding {
        return {wrongPixel(view, image.toHost(), full), {"", 1, pixels, 0, 0}};
    };
    enum Launches { kOne, kOneForEachDivided };
    const auto ofDivided = [&](Launches launches) -> lab::Finding {
        const Counts found = counts.toHost()[0];
        std::string wrong = wrongPixel(view, image.toHost(), expected.image);
        if (wrong.empty() && found.refusal != 0) {
            wrong = lab::formatted(
                "a launch was refused: %s, with room for %zu (a larger --least needs fewer)",
                cudaGetErrorName(static_cast<cudaError_t>(found.refusal)), pending);
        } else if (wrong.empty() &&
                   (found.divided != expected.divided || found.filled != expected.filled)) {
            wrong = lab::formatted(
                "%llu rectangles divided and %llu pixels filled, expected %zu and %zu",
                found.divided, found.filled, expected.divided, expected.filled);
        }
        return {wrong,
                {tiles.count() + kParts * kParts * found.divided,
                 launches == kOne ? 1 : 1 + found.divided, pixels - found.filled, found.filled,
                 differ}};
    };
    if (differ > 0) {
        exercise.note(lab::formatted(
            "%zu of %zu pixels that are filled would have another dwell if they were computed.",
            differ, expected.filled));
    }

    lab::Ladder ladder(exercise, image, [&] { counts.fillBytes(0); });
    ladder.rung("everyPixel", lines, block, lab::kNoRate, ofEvery,
                [&] { everyPixel<<<lines, block>>>(image.get(), view); });
    ladder.rung("unrolledPixels", lines, block, lab::kNoRate, ofEvery,
                [&] { unrolledPixels<<<lines, block>>>(image.get(), view); });
    const dim3 ofTiles(tiles.columns, tiles.rows);
    ladder.rung(
        "nestedGrids", ofTiles, block, lab::kNoRate, [&] { return ofDivided(kOneForEachDivided); },
        [&] {
            nestedGrids<<<ofTiles, block>>>(image.get(), view, least, {0, 0, width, height},
                                            counts.get());
        });
    ladder.rung(
        "workQueue", resident, block, lab::kNoRate, [&] { return ofDivided(kOne); },
        [&] {
            queue.copyFrom(fresh);
            workQueue<<<resident, block>>>(image.get(), view, least, tiles, queue.get(),
                                           places.get(), counts.get());
        });

    if (imageFile.stream() != nullptr)
        lab::writePgm(imageFile, width, height, dwell, image.toHost());
    if (mapFile.stream() != nullptr) lab::writePgm(mapFile, width, height, 1, expected.computed);
    return exercise.finish();
}
