#include "textures.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "emu/engine.h"
#include "emu/textures.h"
#include "messages.h"
#include "scheduler.h"
#include "watcher.h"

namespace emu {
namespace {

// ---- The table of objects -----------------------------------------------------------------------

// A handle tells the slot of the table, and how often that was used before: so a handle of what was
// destroyed is noticed.
constexpr uint64_t kSlots = uint64_t{1} << 16;

struct Entry {
    uint64_t handle;
    std::unique_ptr<const ImageObject> object;
};

struct Table {
    std::mutex mutex;
    uint64_t slotsUsed = 1;            // handle 0 is no object
    std::deque<uint64_t> freeHandles;  // of slots that were used, the one that waits longest first
    std::array<std::atomic<const Entry*>, kSlots> entries{};
};

Table& table() {
    static Table& instance = *new Table;  // never destroyed: kernels may outlive static objects
    return instance;
}

// Needs the lock.
void removeEntry(Table& all, uint64_t slot) {
    const Entry* const entry = all.entries[slot].exchange(nullptr);
    if (entry == nullptr) return;
    all.freeHandles.push_back(entry->handle + kSlots);
    delete entry;
}

// ---- What a call may use ------------------------------------------------------------------------

constexpr const char* kShapes[] = {"1D", "2D", "3D", "1DLayered", "2DLayered"};

const char* nameOf(Shape shape) {
    return kShapes[static_cast<int>(shape)];
}

Shape shapeOf(const Image& image) {
    if (image.layers != 0) return image.height != 0 ? Shape::Planes : Shape::Lines;
    if (image.depth != 0) return Shape::Volume;
    return image.height != 0 ? Shape::Plane : Shape::Line;
}

// (failKernel() unwinds nothing, so no string may be alive here but the message.)
const ImageObject& objectOf(uint64_t handle, bool isSurface) {
    const ImageObject* const object = findImageObject(handle, isSurface);
    if (object == nullptr) {
        failKernel(
            cudaErrorIllegalAddress,
            format("no %s object has the handle %llu: it was never created, or it has been "
                   "destroyed",
                   isSurface ? "surface" : "texture", static_cast<unsigned long long>(handle)));
    }
    return *object;
}

// A GPU gives something undefined where the shape of the call is not that of the object.
const Image& imageFor(const ImageObject& object, Shape shape) {
    const char* const prefix = object.isSurface ? "surf" : "tex";
    if (object.resource.resType == cudaResourceTypeLinear) {
        failKernel(cudaErrorIllegalAddress,
                   format("%s%s() of a texture of linear memory, which only tex1Dfetch() reads",
                          prefix, nameOf(shape)));
    }
    const Shape has = shapeOf(object.image);
    if (has != shape) {
        failKernel(cudaErrorIllegalAddress,
                   format("%s%s() of an array that is %s", prefix, nameOf(shape), nameOf(has)));
    }
    return object.image;
}

void tell(TexelAccess access, uint32_t bytes, const void* pc) {
    if (watcher == nullptr) return;
    access.bytes = bytes;
    access.pc = reinterpret_cast<uintptr_t>(pc);
    watcher->texelsAccessed(threadRankInBlock(), access);
}

// ---- Texels -------------------------------------------------------------------------------------

uint32_t bitsOf(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

float floatOf(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

float fromHalf(uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float sign = half >> 15 != 0 ? -1.0f : 1.0f;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

bool isFloat(const Image& image) {
    return image.format.f == cudaChannelFormatKindFloat;
}
bool isSigned(const Image& image) {
    return image.format.f == cudaChannelFormatKindSigned;
}
bool givesFloats(const ImageObject& texture) {
    return isFloat(texture.image) || texture.description.readMode == cudaReadModeNormalizedFloat;
}

// A channel as 32 bits: those of a float, or of an integer with its sign.
uint32_t channelAt(const Image& image, const unsigned char* texel, unsigned channel) {
    const unsigned bytes = image.channelBytes();
    uint32_t bits = 0;
    std::memcpy(&bits, texel + channel * bytes, bytes);
    if (isFloat(image)) return bytes == 2 ? bitsOf(fromHalf(static_cast<uint16_t>(bits))) : bits;
    if (!isSigned(image) || bytes == 4) return bits;
    return static_cast<uint32_t>(bytes == 1 ? static_cast<int8_t>(bits)
                                            : static_cast<int16_t>(bits));
}

// An integer as a fraction of the largest one.
float normalised(const Image& image, uint32_t bits) {
    const int valueBits = 8 * static_cast<int>(image.channelBytes()) - (isSigned(image) ? 1 : 0);
    const auto largest = static_cast<float>((1 << valueBits) - 1);
    const auto value = static_cast<float>(static_cast<int32_t>(bits));
    return std::max(value / largest, -1.0f);
}

bool isBelow(int value, size_t limit) {
    return value >= 0 && static_cast<size_t>(value) < limit;
}

// ---- Coordinates --------------------------------------------------------------------------------

// All numbers here are those of an H200: tests/emulator/textures has a recording.

constexpr int kOutside = -1;
constexpr int kWeightBits = 8;
constexpr int kOne = 1 << kWeightBits;  // the weight 1
constexpr int kCoordinateBits = 21;     // of a normalised coordinate, behind the point

// The texels that a coordinate lies between, and the weight of the second one.
struct Axis {
    int texel[2];
    int weight;
};

// The texel that stands at `index`.
int addressed(int64_t index, int64_t size, cudaTextureAddressMode mode) {
    const auto modulo = [&](int64_t period) { return (index % period + period) % period; };
    switch (mode) {
        case cudaAddressModeBorder:
            return index < 0 || index >= size ? kOutside : static_cast<int>(index);
        case cudaAddressModeWrap:
            return static_cast<int>(modulo(size));
        case cudaAddressModeMirror:
            return static_cast<int>(std::min(modulo(2 * size), 2 * size - 1 - modulo(2 * size)));
        case cudaAddressModeClamp:
            break;
    }
    return static_cast<int>(std::clamp<int64_t>(index, 0, size - 1));
}

// The place of a coordinate in 2^21ths of a texel, rounded down. Coordinates so far outside that
// nothing changes any more are brought nearer.
int64_t placeOf(float coordinate, int64_t size, bool isNormalised, bool repeats) {
    double value = std::fabs(coordinate) < std::numeric_limits<float>::min() ? 0.0 : coordinate;
    if (std::isnan(value) || (repeats && std::isinf(value))) value = 0;
    constexpr double kScale = 1 << kCoordinateBits, kFar = 1 << 20;
    if (!isNormalised)
        return static_cast<int64_t>(std::floor(std::clamp(value, -kFar, kFar) * kScale));
    value = repeats ? std::fmod(value, 2) : std::clamp(value, -2.0, 3.0);
    return static_cast<int64_t>(std::floor(value * kScale)) * size;
}

// The weight is rounded to the nearest of 256 steps.
Axis axisOf(float coordinate, size_t texels, const cudaTextureDesc& description, int axis,
            cudaTextureFilterMode filter) {
    const bool isNormalised = description.normalizedCoords != 0;
    cudaTextureAddressMode mode = description.addressMode[axis];
    bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    if (repeats && !isNormalised) {
        mode = cudaAddressModeClamp;
        repeats = false;
    }
    const auto size = static_cast<int64_t>(texels);
    const int64_t place = placeOf(coordinate, size, isNormalised, repeats);
    if (filter == cudaFilterModePoint) {
        return {{addressed(place >> kCoordinateBits, size, mode), kOutside}, 0};
    }
    constexpr int kStepBits = kCoordinateBits - kWeightBits;
    const int64_t steps = ((place + (1 << (kStepBits - 1))) >> kStepBits) - kOne / 2;
    const int64_t first = steps >> kWeightBits;
    const int texel = addressed(first, size, mode), next = addressed(first + 1, size, mode);
    // Beyond the edge, where both are the same texel, it has the whole weight.
    const bool isEdge = mode == cudaAddressModeClamp && texel == next;
    return {{texel, next}, isEdge ? 0 : static_cast<int>(steps & (kOne - 1))};
}

// ---- Taps: the texels of one call ---------------------------------------------------------------

struct Tap {
    const unsigned char* texel;  // nullptr: outside, where the border colour is
    int weight;
};
struct Taps {
    std::array<Tap, TexelAccess::kMost> tap;
    int count = 0;

    void add(const Tap& one) { tap[static_cast<size_t>(count++)] = one; }
    const Tap* begin() const { return tap.data(); }
    const Tap* end() const { return tap.data() + count; }
};

struct Axes {
    Axis x, y, z;
    size_t layer;
};

const unsigned char* texelOf(const Image& image, const Axes& axes, int i, int j, int k) {
    const int x = axes.x.texel[i], y = axes.y.texel[j], z = axes.z.texel[k];
    if (x == kOutside || y == kOutside || z == kOutside) return nullptr;
    return image.base + static_cast<size_t>(x) * image.elementBytes() +
           static_cast<size_t>(y) * image.pitch +
           (static_cast<size_t>(z) + axes.layer) * image.slice;
}

// The texel that is nearest, or those of a linear filter that have a weight. The GPU divides the
// weight 1 among z, then each part among x, then each among y, and rounds each time, so that the
// sum remains 1.
Taps tapsOf(const Image& image, const Axes& axes, cudaTextureFilterMode filter) {
    Taps taps;
    if (filter == cudaFilterModePoint) {
        taps.add({texelOf(image, axes, 0, 0, 0), kOne});
        return taps;
    }
    for (int k = 0; k < 2; ++k) {
        const int ofSlice = k != 0 ? axes.z.weight : kOne - axes.z.weight;
        const int right = (ofSlice * axes.x.weight + kOne / 2) >> kWeightBits;
        for (int i = 0; i < 2; ++i) {
            const int ofColumn = i != 0 ? right : ofSlice - right;
            const int half = i != 0 ? kOne / 2 : kOne / 2 - 1;
            const int lower = (ofColumn * axes.y.weight + half) >> kWeightBits;
            for (int j = 0; j < 2; ++j) {
                const int weight = j != 0 ? lower : ofColumn - lower;
                if (weight != 0) taps.add({texelOf(image, axes, i, j, k), weight});
            }
        }
    }
    return taps;
}

void tellTaps(const Taps& taps, uint32_t bytes, const void* pc) {
    if (watcher == nullptr) return;
    TexelAccess access;
    for (const Tap& tap : taps) {
        if (tap.texel != nullptr) {
            access.texel[access.count++] = reinterpret_cast<uintptr_t>(tap.texel);
        }
    }
    tell(access, bytes, pc);
}

// ---- Values -------------------------------------------------------------------------------------

// A border colour in a texture of integers that gives floats.
int64_t integerOf(const Image& image, float colour) {
    const int valueBits = 8 * static_cast<int>(image.channelBytes()) - (isSigned(image) ? 1 : 0);
    return static_cast<int64_t>(std::clamp(colour, isSigned(image) ? -1.0f : 0.0f, 1.0f) *
                                static_cast<float>((1 << valueBits) - 1));
}

// One texel as it is. Channels that it lacks are 0.
Texel unfiltered(const ImageObject& texture, const unsigned char* texel) {
    const Image& image = texture.image;
    const bool floats = givesFloats(texture);
    Texel result{};
    for (unsigned i = 0; i < 4; ++i) {
        if (texel == nullptr) {
            const float colour = texture.description.borderColor[i];
            const bool isInteger = floats && !isFloat(image);
            const auto integer = static_cast<uint32_t>(isInteger ? integerOf(image, colour) : 0);
            result.channel[i] = bitsOf(isInteger ? normalised(image, integer) : colour);
        } else if (i < image.channels()) {
            const uint32_t bits = channelAt(image, texel, i);
            result.channel[i] = floats && !isFloat(image) ? bitsOf(normalised(image, bits)) : bits;
        }
    }
    return result;
}

// How floats are added: those of 32 bits lose what is denormal.
struct FloatKind {
    int bits;           // of a number, with the leading one
    int leastExponent;  // of the last bit of a number
    double least;       // what is smaller counts as 0
};
constexpr FloatKind kSingle{24, -149, std::numeric_limits<float>::min()};
constexpr FloatKind kHalf{11, -24, 0};

// The sum of weights times values. The GPU brings the values to the exponent of the largest one,
// keeps four bits more than a number has, adds exactly, and rounds once: a half away from zero.
float weightedFloats(const double* values, const Taps& taps, const FloatKind& kind) {
    const int bits = kind.bits + 4;
    const auto counts = [&](double value) { return value != 0 && std::fabs(value) >= kind.least; };
    double plain = 0;
    int exponent = std::numeric_limits<int>::min();
    bool allNegative = true;
    for (int i = 0; i < taps.count; ++i) {
        plain += values[i] * taps.tap[static_cast<size_t>(i)].weight / kOne;
        if (counts(values[i])) exponent = std::max(exponent, std::ilogb(values[i]));
        allNegative = allNegative && std::signbit(values[i]);
    }
    if (!std::isfinite(plain)) return static_cast<float>(plain);
    const float zero = allNegative ? -0.0f : 0.0f;
    if (exponent == std::numeric_limits<int>::min()) return zero;
    int64_t sum = 0;
    for (int i = 0; i < taps.count; ++i) {
        if (!counts(values[i])) continue;
        const auto scaled = static_cast<int64_t>(std::ldexp(values[i], bits - 1 - exponent));
        sum += scaled * taps.tap[static_cast<size_t>(i)].weight;
    }
    const int scale = exponent - bits + 1 - kWeightBits;  // the exponent of the sum's last bit
    int64_t size = std::llabs(sum);
    int shift = std::max(0, kind.leastExponent - scale);
    while (size >> shift >= int64_t{1} << kind.bits) ++shift;
    if (shift > 0) size = (size + (int64_t{1} << (shift - 1))) >> shift << shift;
    const double result = std::ldexp(static_cast<double>(size), scale);
    return result < kind.least ? zero : static_cast<float>(sum < 0 ? -result : result);
}

// Integers become 16 bits, and the sum is rounded to these.
float weightedIntegers(const Image& image, const int64_t* values, const Taps& taps) {
    const bool narrow = image.channelBytes() == 1;
    const int64_t least = narrow ? -127 : -32767;
    int64_t sum = 0;
    for (int i = 0; i < taps.count; ++i) {
        sum += std::max(values[i], least) * taps.tap[static_cast<size_t>(i)].weight;
    }
    if (!isSigned(image)) {
        if (narrow) sum *= 257;
        return static_cast<float>((sum + kOne / 2) >> kWeightBits) / 65535.0f;
    }
    if (!narrow) return static_cast<float>((sum + kOne / 2) >> kWeightBits) / 32767.0f;
    const int64_t fine = sum * 8;
    return static_cast<float>((fine + (fine >> 7) + (fine >> 15) + 4) >> 3) / 32767.0f;
}

float filteredFloat(const ImageObject& texture, const Taps& taps, unsigned channel) {
    const Image& image = texture.image;
    double values[TexelAccess::kMost];
    int count = 0;
    for (const Tap& tap : taps) {
        values[count++] = tap.texel != nullptr ? floatOf(channelAt(image, tap.texel, channel))
                                               : texture.description.borderColor[channel];
    }
    return weightedFloats(values, taps, image.channelBytes() == 2 ? kHalf : kSingle);
}

float filteredInteger(const ImageObject& texture, const Taps& taps, unsigned channel) {
    const Image& image = texture.image;
    int64_t values[TexelAccess::kMost];
    int count = 0;
    for (const Tap& tap : taps) {
        values[count++] = tap.texel != nullptr
                              ? static_cast<int32_t>(channelAt(image, tap.texel, channel))
                              : integerOf(image, texture.description.borderColor[channel]);
    }
    return weightedIntegers(image, values, taps);
}

Texel filtered(const ImageObject& texture, const Taps& taps) {
    Texel result{};
    for (unsigned c = 0; c < texture.image.channels(); ++c) {
        result.channel[c] = bitsOf(isFloat(texture.image) ? filteredFloat(texture, taps, c)
                                                          : filteredInteger(texture, taps, c));
    }
    return result;
}

// A negative layer is the last one, as if the number had no sign.
size_t layerOf(const Image& image, int layer) {
    if (image.layers == 0) return 0;
    return std::min<size_t>(static_cast<unsigned>(layer), image.layers - 1);
}

// A texture of one dimension is one of two with a single row, whose place is 0.
Axes axesOf(const ImageObject& texture, const TexturePoint& point, cudaTextureFilterMode filter) {
    const Image& image = texture.image;
    const cudaTextureDesc& description = texture.description;
    const Axis none{{0, 0}, 0};
    return {axisOf(point.x, image.width, description, 0, filter),
            axisOf(point.y, std::max<size_t>(image.height, 1), description, 1, filter),
            image.depth != 0 ? axisOf(point.z, image.depth, description, 2, filter) : none,
            layerOf(image, point.layer)};
}

// ---- Surfaces -----------------------------------------------------------------------------------

// The place of a value in a surface, or nullptr if it lies outside and the mode lets it.
unsigned char* placeIn(const Image& image, unsigned bytes, Shape shape, SurfacePoint point) {
    if (point.x % static_cast<int>(bytes) != 0) {
        failKernel(cudaErrorMisalignedAddress,
                   format("surf%s: x is %d, but a value of %u bytes begins at a multiple of that: "
                          "x counts bytes",
                          nameOf(shape), point.x, bytes));
    }
    const size_t rowBytes = image.width * image.elementBytes();
    const size_t height = std::max<size_t>(image.height, 1);
    const size_t depth = std::max<size_t>(image.depth, 1);
    const size_t layers = std::max<size_t>(image.layers, 1);
    const auto clampTo = [](int value, size_t count) {
        return std::clamp(value, 0, static_cast<int>(count) - 1);
    };
    const bool inside = isBelow(point.x, rowBytes) && isBelow(point.y, height) &&
                        isBelow(point.z, depth) && isBelow(point.layer, layers);
    if (!inside) {
        if (point.mode == cudaBoundaryModeZero) return nullptr;
        if (point.mode != cudaBoundaryModeClamp) {
            failKernel(cudaErrorIllegalAddress,
                       format("surf%s: byte %d of row %d lies outside of a surface of %zu rows of "
                              "%zu bytes: x counts bytes, y rows",
                              nameOf(shape), point.x, point.y, height, rowBytes));
        }
        point.x = clampTo(point.x, rowBytes) / static_cast<int>(bytes) * static_cast<int>(bytes);
        point.y = clampTo(point.y, height);
        point.z = clampTo(point.z, depth);
        point.layer = clampTo(point.layer, layers);
    }
    return image.base + static_cast<size_t>(point.x) + static_cast<size_t>(point.y) * image.pitch +
           static_cast<size_t>(point.z + point.layer) * image.slice;
}

// `pc` is where the call returns to.
unsigned char* surfacePlace(cudaSurfaceObject_t handle, unsigned bytes, Shape shape,
                            const SurfacePoint& point, bool isStore, const void* pc) {
    unsigned char* const place =
        placeIn(imageFor(objectOf(handle, true), shape), bytes, shape, point);
    TexelAccess access;
    access.isSurface = true;
    access.isStore = isStore;
    if (place != nullptr) access.texel[access.count++] = reinterpret_cast<uintptr_t>(place);
    tell(access, bytes, pc);
    return place;
}

}  // namespace

uint64_t addImageObject(std::unique_ptr<const ImageObject> object) {
    Table& all = table();
    const std::lock_guard<std::mutex> lock(all.mutex);
    uint64_t handle = 0;
    if (all.slotsUsed < kSlots) {
        handle = all.slotsUsed++;
    } else if (!all.freeHandles.empty()) {
        handle = all.freeHandles.front();
        all.freeHandles.pop_front();
    } else {
        return 0;
    }
    all.entries[handle % kSlots] = new Entry{handle, std::move(object)};
    return handle;
}

const ImageObject* findImageObject(uint64_t handle, bool isSurface) {
    const Entry* const entry = table().entries[handle % kSlots];
    const bool isThat =
        entry != nullptr && entry->handle == handle && entry->object->isSurface == isSurface;
    return isThat ? entry->object.get() : nullptr;
}

bool removeImageObject(uint64_t handle, bool isSurface) {
    Table& all = table();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (findImageObject(handle, isSurface) == nullptr) return false;
    removeEntry(all, handle % kSlots);
    return true;
}

void removeImageObjects() {
    Table& all = table();
    const std::lock_guard<std::mutex> lock(all.mutex);
    for (uint64_t slot = 0; slot < all.slotsUsed; ++slot) removeEntry(all, slot);
}

Texel fetchTexel(cudaTextureObject_t handle, int index) {
    const ImageObject& texture = objectOf(handle, false);
    const Image& image = texture.image;
    if (texture.resource.resType != cudaResourceTypeLinear) {
        failKernel(cudaErrorIllegalAddress,
                   format("tex1Dfetch() reads textures of linear memory, not of arrays"));
    }
    Taps taps;
    if (isBelow(index, image.width)) {
        taps.add({image.base + static_cast<size_t>(index) * image.elementBytes(), kOne});
    }
    tellTaps(taps, image.elementBytes(), __builtin_return_address(0));
    return taps.count != 0 ? unfiltered(texture, taps.tap[0].texel) : Texel{};
}

Texel sampleTexture(cudaTextureObject_t handle, Shape shape, const TexturePoint& point) {
    const ImageObject& texture = objectOf(handle, false);
    const Image& image = imageFor(texture, shape);
    const cudaTextureFilterMode filter = texture.description.filterMode;
    const Taps taps = tapsOf(image, axesOf(texture, point, filter), filter);
    tellTaps(taps, image.elementBytes(), __builtin_return_address(0));
    return filter == cudaFilterModePoint ? unfiltered(texture, taps.tap[0].texel)
                                         : filtered(texture, taps);
}

// One channel of the four texels that a linear filter takes, against the clock from below on the
// left.
Texel gatherTexels(cudaTextureObject_t handle, float x, float y, int component) {
    const ImageObject& texture = objectOf(handle, false);
    const Image& image = imageFor(texture, Shape::Plane);
    if (!texture.mayGather) {
        failKernel(cudaErrorIllegalAddress,
                   format("tex2Dgather() of an array without the flag cudaArrayTextureGather"));
    }
    const Axes axes = axesOf(texture, {x, y, 0, 0}, cudaFilterModeLinear);
    Taps taps;
    constexpr int kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (const auto& [i, j] : kOrder) taps.add({texelOf(image, axes, i, j, 0), kOne});
    tellTaps(taps, image.elementBytes(), __builtin_return_address(0));
    Texel result;
    for (size_t i = 0; i < 4; ++i) {
        result.channel[i] = unfiltered(texture, taps.tap[i].texel).channel[component & 3];
    }
    return result;
}

void readSurface(void* value, unsigned bytes, cudaSurfaceObject_t handle, Shape shape,
                 const SurfacePoint& point) {
    const unsigned char* const place =
        surfacePlace(handle, bytes, shape, point, false, __builtin_return_address(0));
    if (place != nullptr) {
        std::memcpy(value, place, bytes);
    } else {
        std::memset(value, 0, bytes);
    }
}

void writeSurface(const void* value, unsigned bytes, cudaSurfaceObject_t handle, Shape shape,
                  const SurfacePoint& point) {
    unsigned char* const place =
        surfacePlace(handle, bytes, shape, point, true, __builtin_return_address(0));
    if (place != nullptr) std::memcpy(place, value, bytes);
}

}  // namespace emu
