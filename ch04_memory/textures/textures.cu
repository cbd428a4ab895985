// Rotates and scales an image. Each output pixel asks where it lies in the input, between four
// input pixels, and takes their weighted mean (bilinear interpolation). The program compares ways
// to read the four: global memory, and textures of three kinds of memory.
//
//   1 rotateGlobal     four loads and its own weights, in blocks one row high and in tiles
//   2 rotateFetch      the same with tex1Dfetch(): a texture of the same linear memory
//   3 rotateFiltered   one tex2D() for each pixel: the texture unit reads four texels of a CUDA
//                      array, and weighs them
//     rotatePitched    the same kernel with a texture of rows in linear memory
//   4 rotateFour       the same for four pixels in each thread, whose reads do not wait for each
//                      other
//   5 rotateRepeated   normalised coordinates: beyond its edge the image begins anew
//   6 rotateGather     one tex2Dgather() reads four texels of a CUDA array; its own weights
//   7 rotateToSurface  the same; the output is a CUDA array as well, written through a surface
//     cudaMemcpy       copies the image: the bound for all of them
//
// GB/s counts 8 bytes for each pixel: it is read once and written once. `off by` is the largest
// difference from the reference, which the CPU computes in double. The texture unit rounds weights
// to 1/256, so kernels 3 to 5 may be off by up to 1/128 of the range of the pixels, and the others
// by a few roundings of a float.
//
// A block has 256 threads, and covers a piece of the output that is --tile pixels wide.
//
//   ./lab run textures -- --angle=90
//   ./lab run textures -- --tile=32
//   ./lab test textures
//   ./lab profile textures
//
// With plain CMake, after `cmake -S . -B build` (a preset builds in out/gpu or out/cpu):
//   cmake --build build --target textures
//   build/ch04_memory/textures --angle=90
//   ncu build/ch04_memory/textures --profile
//
// Without CMake, after `mkdir -p build`, in one line:
//   nvcc -std=c++17 -Icommon ch04_memory/textures/textures.cu
//       common/*.cpp common/*.cu -o build/textures

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "imageMemory.cuh"
#include "lab.cuh"
#include "rotation.h"

constexpr unsigned kBlock = 256;  // threads
constexpr unsigned kPixels = 4;   // of a thread of rotateFour

// The threads of a block take a piece of the output that has the block's shape.
struct Size {
    int width, height;
};
__device__ int column() {
    return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
__device__ int row() {
    return static_cast<int>(lab::blockY() * blockDim.y + threadIdx.y);
}

// The mean of four pixels, in rows: `x` is the weight of the right ones, `y` that of the lower
// ones.
__device__ float weighted(float4 rows, float x, float y) {
    const float upper = fmaf(x, rows.y - rows.x, rows.x);
    const float lower = fmaf(x, rows.w - rows.z, rows.z);
    return fmaf(y, lower - upper, upper);
}

// tex2Dgather() gives the four texels around a corner against the clock, from the lower left one.
__device__ float gathered(cudaTextureObject_t in, float2 place) {
    const float left = floorf(place.x), top = floorf(place.y);
    const float4 four = tex2Dgather<float4>(in, left + 1, top + 1);
    return weighted(make_float4(four.w, four.z, four.x, four.y), place.x - left, place.y - top);
}

// Outside, an image is black.
__device__ float pixelAt(const PitchedImage& in, int x, int y) {
    const bool inside = x >= 0 && x < in.width && y >= 0 && y < in.height;
    return inside ? in.pixels[y * in.pitch + x] : 0;
}

// Each pixel takes four loads. A warp of a block that is one row high reads along a line through
// the image, and this line meets as many rows as the angle says. A warp of a tile reads a small
// piece of the image, which has fewer sectors. Still wrong: four loads, four tests whether they are
// inside, and three multiply-adds, for one mean.
__global__ void rotateGlobal(PitchedImage in, float* out, Size size, Rotation rotation) {
    const int x = column(), y = row();
    if (x >= size.width || y >= size.height) return;
    const float2 place = rotation.placeOf(x, y);
    const int left = static_cast<int>(floorf(place.x)), top = static_cast<int>(floorf(place.y));
    const float4 pixels = make_float4(pixelAt(in, left, top), pixelAt(in, left + 1, top),
                                      pixelAt(in, left, top + 1), pixelAt(in, left + 1, top + 1));
    out[std::size_t(y) * size.width + x] = weighted(pixels, place.x - left, place.y - top);
}

// As before, with a texture of the same memory. Its index is that of an element. Still wrong: this
// texture knows neither rows nor filters. It was made for GPUs that cached nothing but textures.
__device__ float fetchedAt(cudaTextureObject_t in, const PitchedImage& image, int x, int y) {
    const bool inside = x >= 0 && x < image.width && y >= 0 && y < image.height;
    return inside ? tex1Dfetch<float>(in, static_cast<int>(y * image.pitch + x)) : 0;
}
__global__ void rotateFetch(cudaTextureObject_t in, PitchedImage image, float* out, Size size,
                            Rotation rotation) {
    const int x = column(), y = row();
    if (x >= size.width || y >= size.height) return;
    const float2 place = rotation.placeOf(x, y);
    const int left = static_cast<int>(floorf(place.x)), top = static_cast<int>(floorf(place.y));
    const float4 pixels =
        make_float4(fetchedAt(in, image, left, top), fetchedAt(in, image, left + 1, top),
                    fetchedAt(in, image, left, top + 1), fetchedAt(in, image, left + 1, top + 1));
    out[std::size_t(y) * size.width + x] = weighted(pixels, place.x - left, place.y - top);
}

// One instruction reads four texels, weighs them, and takes 0 for what lies outside (address mode
// "border"). The centre of texel 0 is at 0.5, not at 0. The kernel does not know where the texels
// lie: in rows, or in the blocks of a CUDA array. Still wrong: the texture unit rounds weights to
// 1/256.
__global__ void rotateFiltered(cudaTextureObject_t in, float* out, Size size, Rotation rotation) {
    const int x = column(), y = row();
    if (x >= size.width || y >= size.height) return;
    const float2 place = rotation.placeOf(x, y);
    out[std::size_t(y) * size.width + x] = tex2D<float>(in, place.x + 0.5f, place.y + 0.5f);
}

// The texture unit answers late, and a thread with one pixel only waits. Here a thread reads for
// four pixels before it stores the first. They lie one below another, as far apart as a block is
// high.
__global__ void rotateFour(cudaTextureObject_t in, float* out, Size size, Rotation rotation) {
    const int x = column();
    const int first = static_cast<int>(lab::blockY() * blockDim.y * kPixels + threadIdx.y);
    float values[kPixels];
#pragma unroll
    for (unsigned k = 0; k < kPixels; ++k) {
        const float2 place = rotation.placeOf(x, first + k * blockDim.y);
        values[k] = tex2D<float>(in, place.x + 0.5f, place.y + 0.5f);
    }
#pragma unroll
    for (unsigned k = 0; k < kPixels; ++k) {
        const int y = first + k * blockDim.y;
        if (x < size.width && y < size.height) out[std::size_t(y) * size.width + x] = values[k];
    }
}

// The same texels through a texture with normalised coordinates: 0 is the left edge, and 1 the
// right one. Only these let an image repeat (address mode "wrap").
__global__ void rotateRepeated(cudaTextureObject_t in, float* out, Size size, Rotation rotation) {
    const int x = column(), y = row();
    if (x >= size.width || y >= size.height) return;
    const float2 place = rotation.placeOf(x, y);
    out[std::size_t(y) * size.width + x] =
        tex2D<float>(in, (place.x + 0.5f) / size.width, (place.y + 0.5f) / size.height);
}

// One instruction reads the four texels around a corner, and the kernel weighs them in float. The
// result is exact, and a thread still makes one request in place of four loads.
__global__ void rotateGather(cudaTextureObject_t in, float* out, Size size, Rotation rotation) {
    const int x = column(), y = row();
    if (x >= size.width || y >= size.height) return;
    out[std::size_t(y) * size.width + x] = gathered(in, rotation.placeOf(x, y));
}

// Kernels cannot write textures. A surface is another view of a CUDA array, which they can write:
// the next kernel may read it as a texture, without a copy. The x of a surface counts bytes.
__global__ void rotateToSurface(cudaTextureObject_t in, cudaSurfaceObject_t out, Size size,
                                Rotation rotation) {
    const int x = column(), y = row();
    if (x >= size.width || y >= size.height) return;
    const float value = gathered(in, rotation.placeOf(x, y));
    surf2Dwrite(value, out, x * static_cast<int>(sizeof(float)), y);
}

// The bounds of `off by`. Pixels are 0 to 1. The texture unit rounds the weight in x and the weight
// in y to the nearest 256th, and each may change the mean by half of that. It rounds the product of
// both, too. What one of the four texels gains by this, its two neighbours lose, and the last one
// gains again, which may change the mean by twice a half. A coordinate is rounded to a float, once
// or several times.
constexpr double kRoundedWeights = 4 * 0.5 / 256;
constexpr double kFloat = 4e-7;
double roundedCoordinates(const Size& size, int roundings) {
    return 2.0 * roundings * std::max(size.width, size.height) * std::ldexp(1.0, -24);
}

lab::Finding judged(const std::vector<float>& output, const std::vector<float>& expected,
                    double tolerance) {
    double largest = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
        const double difference = std::fabs(double{output[i]} - expected[i]);
        const double allowed = expected[i] == 0 ? 0 : tolerance;  // outside, an image is black
        if (!(difference <= allowed)) {
            return {lab::describeMismatch(i, output[i], expected[i]), {lab::Cell(difference, 7)}};
        }
        largest = std::max(largest, difference);
    }
    return {"", {lab::Cell(largest, 7)}};
}

int main(int argc, char** argv) {
    Size size;
    unsigned angle, scale, tile;
    lab::Exercise exercise("textures", "Rotates and scales an image, through textures.");
    exercise.option("width", &size.width, {4096, 96}, 1, 32768, "columns of the image");
    exercise.option("height", &size.height, {4096, 64}, 1, 32768, "rows of the image");
    exercise.option("angle", &angle, 30, 0, 359, "degrees to rotate by");
    exercise.option("scale", &scale, 100, 10, 1000, "per cent to scale to");
    exercise.option("tile", &tile, 16, 1, kBlock, "width of a block", lab::Rule::kPowerOfTwo);
    exercise.parse(argc, argv);

    const std::size_t count = std::size_t(size.width) * size.height;
    const std::uint64_t seed = exercise.seed();
    std::vector<float> pixels = lab::randomFloats(count, seed, 0, 1);
    const Rotation rotation(size.width, size.height, angle, scale);
    const PitchedMemory pitched(pixels, size.width, size.height);
    const ArrayMemory array(pixels, size.width, size.height, cudaArrayTextureGather);
    const ArrayMemory surfaceArray(pixels, size.width, size.height, cudaArraySurfaceLoadStore);
    const Texture fetches(pitched.linear(), cudaFilterModePoint, cudaAddressModeClamp, false);
    const Texture ofRows(pitched.resource(), cudaFilterModeLinear, cudaAddressModeBorder, false);
    const Texture ofArray(array.resource(), cudaFilterModeLinear, cudaAddressModeBorder, false);
    const Texture repeated(array.resource(), cudaFilterModeLinear, cudaAddressModeWrap, true);
    const Surface surface(surfaceArray.resource());
    lab::DeviceBuffer<float> output(count);
    float* const out = output.get();

    exercise.title("%s x %s floats (%s), by %u degrees, to %u %%",
                   lab::withCommas(size.width).c_str(), lab::withCommas(size.height).c_str(),
                   lab::inBytes(output.bytes()).c_str(), angle, scale);
    exercise.columns(lab::Columns::kLadder, {{"memory", -7, "memory"}, {"off by", 9, "off_by"}},
                     {"grid", "percent_peak"});

    const std::vector<float> expected = rotated(pixels, size.width, size.height, rotation, false);
    const std::vector<float> repeating = rotated(pixels, size.width, size.height, rotation, true);
    const double weights = kRoundedWeights + roundedCoordinates(size, 1);
    const double normalised = kRoundedWeights + roundedCoordinates(size, 4);
    const auto in = [&](const char* memory, lab::Finding finding) {
        finding.wrong = lab::inMatrix(finding.wrong, size.width);
        finding.cells.insert(finding.cells.begin(), memory);
        return finding;
    };
    const auto check = [&](const char* memory, const std::vector<float>& reference,
                           double tolerance) {
        return [&, memory, tolerance] {
            return in(memory, judged(output.toHost(), reference, tolerance));
        };
    };

    const lab::Work moved = lab::bytes(2.0 * output.bytes());
    lab::Ladder ladder(exercise, output, [&] { surfaceArray.copyFrom(out); });
    const auto gridOf = [&](dim3 block) {
        return lab::gridFor(lab::blocksFor(size.width, block.x),
                            lab::blocksFor(size.height, block.y), 1);
    };
    const dim3 block(tile, kBlock / tile), grid = gridOf(block);
    std::vector<dim3> blocks = {block};  // without --tile, also one that is a row high
    if (!exercise.given("tile")) blocks.insert(blocks.begin(), dim3(kBlock));
    const PitchedImage& image = pitched.image();

    for (const dim3 shape : blocks) {
        const dim3 all = gridOf(shape);
        ladder.rung("rotateGlobal", all, shape, moved, check("linear", expected, kFloat),
                    [&] { rotateGlobal<<<all, shape>>>(image, out, size, rotation); });
    }
    ladder.rung("rotateFetch", grid, block, moved, check("linear", expected, kFloat), [&] {
        rotateFetch<<<grid, block>>>(fetches.object(), image, out, size, rotation);
    });
    ladder.rung("rotatePitched", grid, block, moved, check("pitched", expected, weights),
                [&] { rotateFiltered<<<grid, block>>>(ofRows.object(), out, size, rotation); });
    for (const dim3 shape : blocks) {
        const dim3 all = gridOf(shape);
        ladder.rung("rotateFiltered", all, shape, moved, check("array", expected, weights),
                    [&] { rotateFiltered<<<all, shape>>>(ofArray.object(), out, size, rotation); });
    }
    const dim3 fewer = lab::gridFor(lab::blocksFor(size.width, block.x),
                                    lab::blocksFor(size.height, kPixels * block.y), 1);
    ladder.rung("rotateFour", fewer, block, moved, check("array", expected, weights),
                [&] { rotateFour<<<fewer, block>>>(ofArray.object(), out, size, rotation); });
    ladder.rung("rotateRepeated", grid, block, moved, check("array", repeating, normalised),
                [&] { rotateRepeated<<<grid, block>>>(repeated.object(), out, size, rotation); });
    ladder.rung("rotateGather", grid, block, moved, check("array", expected, kFloat),
                [&] { rotateGather<<<grid, block>>>(ofArray.object(), out, size, rotation); });
    ladder.rung(
        "rotateToSurface", grid, block, moved,
        [&] { return in("array", judged(surfaceArray.toHost(), expected, kFloat)); },
        [&] {
            rotateToSurface<<<grid, block>>>(ofArray.object(), surface.object(), size, rotation);
        });
    const lab::DeviceBuffer<float> source(pixels);
    ladder.peer(
        "cudaMemcpy", moved,
        [&] { return in("linear", lab::mismatch(output.toHost(), pixels, 0)); },
        [&] {
            CUDA_CHECK(
                cudaMemcpyAsync(out, source.get(), output.bytes(), cudaMemcpyDeviceToDevice));
        });
    ladder.announceFastest();
    return exercise.finish();
}
