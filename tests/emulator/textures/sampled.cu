// Samples textures in many modes, at coordinates that are the same on each run, and writes all
// results to a file, as 32-bit words. The results of an H200 are recorded/*.bin.gz;
// test_textures.py holds those of the cpu back end against them.
//
//     nvcc -O3 -arch=sm_90 tests/emulator/textures/sampled.cu -o sampled
//     ./sampled h200.bin 4000         4,000 coordinates, or 1,000, for each mode
//     ./sampled h200_rare.bin 0       edges, borders of integers, half floats, denormal numbers
//
// The recorded files are short, so that the test is fast. With 40000, an H200 and the cpu back end
// wrote the same bytes, too.
//
// It prints a line for each mode: its name, how many words it wrote, and where they begin.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        const cudaError_t error = (call);                                            \
        if (error != cudaSuccess) {                                                  \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorName(error)); \
            std::exit(1);                                                            \
        }                                                                            \
    } while (0)

struct Coordinates {
    float x, y, z;
};

std::FILE* output;
size_t written = 0;
int samples = 1000;

uint32_t hashed(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

float unitRandom(uint32_t seed) {
    return static_cast<float>(hashed(seed) >> 8) / 16777216.0f;
}

template <class Element>
struct Parts;
template <>
struct Parts<float> {
    static float made(uint32_t seed) { return 2 * unitRandom(seed) - 1; }
};
template <>
struct Parts<float4> {
    static float4 made(uint32_t s) {
        return {unitRandom(4 * s), unitRandom(4 * s + 1), -unitRandom(4 * s + 2),
                100 * unitRandom(4 * s + 3)};
    }
};
template <>
struct Parts<unsigned char> {
    static unsigned char made(uint32_t seed) { return static_cast<unsigned char>(hashed(seed)); }
};
template <>
struct Parts<signed char> {
    static signed char made(uint32_t seed) { return static_cast<signed char>(hashed(seed)); }
};
template <>
struct Parts<unsigned short> {
    static unsigned short made(uint32_t seed) { return static_cast<unsigned short>(hashed(seed)); }
};
template <>
struct Parts<int> {
    static int made(uint32_t seed) { return static_cast<int>(hashed(seed)); }
};
template <>
struct Parts<short> {
    static short made(uint32_t seed) { return static_cast<short>(hashed(seed)); }
};
template <>
struct Parts<uchar4> {
    static uchar4 made(uint32_t seed) {
        const uint32_t h = hashed(seed);
        return {static_cast<unsigned char>(h), static_cast<unsigned char>(h >> 8),
                static_cast<unsigned char>(h >> 16), static_cast<unsigned char>(h >> 24)};
    }
};

template <class Element>
std::vector<Element> randomElements(size_t n, uint32_t seed) {
    std::vector<Element> elements;
    for (size_t i = 0; i < n; ++i)
        elements.push_back(Parts<Element>::made(seed + static_cast<uint32_t>(i)));
    return elements;
}

template <class Result>
__global__ void sample1D(Result* out, const Coordinates* at, int n, cudaTextureObject_t texture) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<Result>(texture, at[i].x);
}

template <class Result>
__global__ void sample2D(Result* out, const Coordinates* at, int n, cudaTextureObject_t texture) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<Result>(texture, at[i].x, at[i].y);
}

template <class Result>
__global__ void sample3D(Result* out, const Coordinates* at, int n, cudaTextureObject_t texture) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex3D<Result>(texture, at[i].x, at[i].y, at[i].z);
}

template <class Result>
__global__ void sampleLayers(Result* out, const Coordinates* at, int n,
                             cudaTextureObject_t texture) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2DLayered<Result>(texture, at[i].x, at[i].y, i % 7 - 2);
}

template <class Result>
__global__ void sampleLayers1D(Result* out, const Coordinates* at, int n,
                               cudaTextureObject_t texture) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1DLayered<Result>(texture, at[i].x, i % 7 - 2);
}

__global__ void gather(float4* out, const Coordinates* at, int n, cudaTextureObject_t texture,
                       int component) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (component == 0) out[i] = tex2Dgather<float4>(texture, at[i].x, at[i].y, 0);
    if (component == 1) out[i] = tex2Dgather<float4>(texture, at[i].x, at[i].y, 1);
    if (component == 2) out[i] = tex2Dgather<float4>(texture, at[i].x, at[i].y, 2);
    if (component == 3) out[i] = tex2Dgather<float4>(texture, at[i].x, at[i].y, 3);
}

template <class Result>
__global__ void fetch(Result* out, int n, int first, cudaTextureObject_t texture) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<Result>(texture, first + i);
}

void recorded(const std::string& name, const void* deviceWords, size_t words) {
    CHECK(cudaGetLastError());
    std::vector<uint32_t> results(words);
    CHECK(cudaMemcpy(results.data(), deviceWords, words * 4, cudaMemcpyDeviceToHost));
    // NaNs differ in their bits from GPU to processor: a NaN is a NaN.
    for (uint32_t& word : results)
        if ((word & 0x7fffffffu) > 0x7f800000u) word = 0x7fffffffu;
    std::fwrite(results.data(), 4, words, output);
    std::printf("%s %zu %zu\n", name.c_str(), words, written);
    written += words;
}

// Coordinates from one width before the texture to one behind it. The first are special values, and
// every fourth is a multiple of 1/512 of a texel, where weights are rounded.
std::vector<Coordinates> randomCoordinates(int n, float width, float height, float depth,
                                           bool normalised, uint32_t seed) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float special[] = {0.0f,         -0.0f,  0.5f,    1.0f,     infinity, -infinity,
                             NAN,          1e10f,  -1e10f,  1e30f,    -1e30f,   16777216.0f,
                             -16777216.0f, 1e-40f, -1e-40f, 33000.25f};
    const int specials = sizeof(special) / sizeof(special[0]);
    std::vector<Coordinates> all;
    for (int i = 0; i < n; ++i) {
        float c[3];
        for (int axis = 0; axis < 3; ++axis) {
            const float extent = axis == 0 ? width : axis == 1 ? height : depth;
            float place = (3 * unitRandom(seed + 3 * i + axis) - 1) * extent;
            if (i % 4 == 3) place = std::floor(place * 512) / 512;
            if (normalised) place /= extent;
            if (i < specials) place = axis == 0 ? special[i] : normalised ? 0.3f : 1.25f;
            c[axis] = place;
        }
        all.push_back({c[0], c[1], c[2]});
    }
    return all;
}

struct OnDevice {
    Coordinates* at;
    void* out;
    int n;
    explicit OnDevice(const std::vector<Coordinates>& coordinates)
        : n(static_cast<int>(coordinates.size())) {
        CHECK(cudaMalloc(&at, n * sizeof(Coordinates)));
        CHECK(cudaMalloc(&out, n * 16));
        CHECK(cudaMemcpy(at, coordinates.data(), n * sizeof(Coordinates), cudaMemcpyHostToDevice));
    }
    ~OnDevice() {
        CHECK(cudaFree(at));
        CHECK(cudaFree(out));
    }
    int blocks() const { return (n + 127) / 128; }
};

cudaTextureDesc described(cudaTextureAddressMode address, cudaTextureFilterMode filter,
                          cudaTextureReadMode read, bool normalised) {
    cudaTextureDesc d = {};
    for (auto& mode : d.addressMode) mode = address;
    d.filterMode = filter;
    d.readMode = read;
    d.normalizedCoords = normalised;
    return d;
}

template <class Element>
cudaArray_t arrayOf(const std::vector<Element>& elements, cudaExtent extent, unsigned flags = 0) {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<Element>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &channels, extent, flags));
    cudaMemcpy3DParms copy = {};
    const size_t rows = extent.height != 0 ? extent.height : 1;
    copy.srcPtr = make_cudaPitchedPtr(const_cast<Element*>(elements.data()),
                                      extent.width * sizeof(Element), extent.width, rows);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(extent.width, rows, extent.depth != 0 ? extent.depth : 1);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

cudaTextureObject_t textureOf(cudaArray_t array, const cudaTextureDesc& description) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

struct Mode {
    const char* name;
    cudaTextureAddressMode address;
    bool normalised;
};
const Mode modes[] = {
    {"clamp", cudaAddressModeClamp, false},     {"border", cudaAddressModeBorder, false},
    {"clamp_norm", cudaAddressModeClamp, true}, {"border_norm", cudaAddressModeBorder, true},
    {"wrap_norm", cudaAddressModeWrap, true},   {"mirror_norm", cudaAddressModeMirror, true},
};
struct Filter {
    const char* name;
    cudaTextureFilterMode mode;
};
const Filter filters[] = {{"point", cudaFilterModePoint}, {"linear", cudaFilterModeLinear}};

// All modes of an array: Result is what a fetch gives.
template <class Element, class Result>
void allModes(const std::string& name, cudaExtent extent, cudaTextureReadMode read, int n,
              uint32_t seed, float magnitude = 1) {
    const size_t rows = extent.height != 0 ? extent.height : 1;
    const size_t slices = extent.depth != 0 ? extent.depth : 1;
    std::vector<Element> elements = randomElements<Element>(extent.width * rows * slices, seed);
    if constexpr (sizeof(Element) == sizeof(float) && sizeof(Result) == sizeof(float))
        if (magnitude != 1)
            for (size_t i = 0; i < elements.size(); ++i)
                elements[i] = static_cast<Element>(
                    std::ldexp(static_cast<float>(elements[i]),
                               static_cast<int>(hashed(static_cast<uint32_t>(i) + 7) % 41) - 20));
    const cudaArray_t array = arrayOf(elements, extent);
    for (const Mode& mode : modes)
        for (const Filter& filter : filters) {
            const OnDevice device(
                randomCoordinates(n, static_cast<float>(extent.width), static_cast<float>(rows),
                                  static_cast<float>(slices), mode.normalised, seed));
            const cudaTextureObject_t texture =
                textureOf(array, described(mode.address, filter.mode, read, mode.normalised));
            Result* out = static_cast<Result*>(device.out);
            if (extent.depth != 0)
                sample3D<<<device.blocks(), 128>>>(out, device.at, device.n, texture);
            else if (extent.height != 0)
                sample2D<<<device.blocks(), 128>>>(out, device.at, device.n, texture);
            else
                sample1D<<<device.blocks(), 128>>>(out, device.at, device.n, texture);
            recorded(name + "_" + mode.name + "_" + filter.name, out,
                     device.n * sizeof(Result) / 4);
            CHECK(cudaDestroyTextureObject(texture));
        }
    CHECK(cudaFreeArray(array));
}

// A fine sweep over one texel that is `peak` among `ground`: it shows the weights themselves.
template <class Element>
void sweep(const std::string& name, int width, int texel, Element peak, Element ground,
           cudaTextureReadMode read, bool normalised, int steps) {
    std::vector<Element> elements(width, ground);
    elements[texel] = peak;
    const cudaArray_t array = arrayOf(elements, make_cudaExtent(width, 0, 0));
    std::vector<Coordinates> all;
    for (int k = 0; k <= 2 * steps; ++k) {
        const float place = texel - 0.5f + static_cast<float>(k) / steps;
        all.push_back({normalised ? place / width : place, 0, 0});
    }
    const OnDevice device(all);
    const cudaTextureObject_t texture =
        textureOf(array, described(cudaAddressModeClamp, cudaFilterModeLinear, read, normalised));
    sample1D<<<device.blocks(), 128>>>(static_cast<float*>(device.out), device.at, device.n,
                                       texture);
    recorded(name, device.out, device.n);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

// One texel of 2 or 3 dimensions: products of weights.
void productOfWeights(const std::string& name, bool cube, int n) {
    const cudaExtent extent = make_cudaExtent(8, 8, cube ? 8 : 0);
    std::vector<float> elements(cube ? 512 : 64, 0.0f);
    elements[cube ? 3 * 64 + 3 * 8 + 3 : 3 * 8 + 3] = 1;
    const cudaArray_t array = arrayOf(elements, extent);
    std::vector<Coordinates> all;
    for (int i = 0; i < n; ++i)
        all.push_back({2.5f + 2 * unitRandom(5 + 3 * i), 2.5f + 2 * unitRandom(6 + 3 * i),
                       cube ? 2.5f + 2 * unitRandom(7 + 3 * i) : 0});
    const OnDevice device(all);
    const cudaTextureObject_t texture = textureOf(
        array,
        described(cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false));
    float* out = static_cast<float*>(device.out);
    if (cube)
        sample3D<<<device.blocks(), 128>>>(out, device.at, device.n, texture);
    else
        sample2D<<<device.blocks(), 128>>>(out, device.at, device.n, texture);
    recorded(name, device.out, device.n);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

// An image in linear memory with a pitch.
void pitched(int n) {
    const int width = 53, height = 37;
    const std::vector<float> elements = randomElements<float>(width * height, 900);
    float* memory;
    size_t pitch;
    CHECK(cudaMallocPitch(&memory, &pitch, width * 4, height));
    CHECK(cudaMemcpy2D(memory, pitch, elements.data(), width * 4, width * 4, height,
                       cudaMemcpyHostToDevice));
    for (const Mode& mode : modes)
        for (const Filter& filter : filters) {
            cudaResourceDesc resource = {};
            resource.resType = cudaResourceTypePitch2D;
            resource.res.pitch2D = {memory, cudaCreateChannelDesc<float>(), width, height, pitch};
            const cudaTextureDesc description =
                described(mode.address, filter.mode, cudaReadModeElementType, mode.normalised);
            cudaTextureObject_t texture;
            CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
            const OnDevice device(randomCoordinates(n, width, height, 1, mode.normalised, 901));
            sample2D<<<device.blocks(), 128>>>(static_cast<float*>(device.out), device.at, device.n,
                                               texture);
            recorded(std::string("pitch2D_") + mode.name + "_" + filter.name, device.out, device.n);
            CHECK(cudaDestroyTextureObject(texture));
        }
    CHECK(cudaFree(memory));
}

// tex1Dfetch() before, in and behind linear memory.
template <class Element, class Result>
void fetched(const std::string& name, cudaTextureReadMode read) {
    const int width = 64;
    const std::vector<Element> elements = randomElements<Element>(2 * width, 950);
    Element* memory;
    CHECK(cudaMalloc(&memory, 2 * width * sizeof(Element)));
    CHECK(cudaMemcpy(memory, elements.data(), 2 * width * sizeof(Element), cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {memory, cudaCreateChannelDesc<Element>(), width * sizeof(Element)};
    const cudaTextureDesc description =
        described(cudaAddressModeClamp, cudaFilterModePoint, read, false);
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    Result* out;
    const int n = width + 16;
    CHECK(cudaMalloc(&out, n * sizeof(Result)));
    fetch<<<1, n>>>(out, n, -8, texture);
    recorded("fetch_" + name, out, n * sizeof(Result) / 4);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFree(memory));
    CHECK(cudaFree(out));
}

void bordered(int n) {
    const std::vector<float4> elements = randomElements<float4>(53 * 37, 970);
    const cudaArray_t array = arrayOf(elements, make_cudaExtent(53, 37, 0));
    cudaTextureDesc description =
        described(cudaAddressModeBorder, cudaFilterModeLinear, cudaReadModeElementType, false);
    for (int i = 0; i < 4; ++i) description.borderColor[i] = 0.3f + static_cast<float>(i);
    const cudaTextureObject_t texture = textureOf(array, description);
    const OnDevice device(randomCoordinates(n, 53, 37, 1, false, 971));
    sample2D<<<device.blocks(), 128>>>(static_cast<float4*>(device.out), device.at, device.n,
                                       texture);
    recorded("border_colour", device.out, device.n * 4);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

// The address modes of the axes differ.
void mixed(int n) {
    const std::vector<float> elements = randomElements<float>(53 * 37, 975);
    const cudaArray_t array = arrayOf(elements, make_cudaExtent(53, 37, 0));
    for (const bool normalised : {true, false}) {
        cudaTextureDesc description = described(cudaAddressModeWrap, cudaFilterModeLinear,
                                                cudaReadModeElementType, normalised);
        description.addressMode[1] = cudaAddressModeMirror;
        const cudaTextureObject_t texture = textureOf(array, description);
        const OnDevice device(randomCoordinates(n, 53, 37, 1, normalised, 976));
        sample2D<<<device.blocks(), 128>>>(static_cast<float*>(device.out), device.at, device.n,
                                           texture);
        recorded(normalised ? "mixed_norm" : "mixed", device.out, device.n);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFreeArray(array));
}

void layered(int n) {
    const std::vector<float> elements = randomElements<float>(20 * 15 * 4, 980);
    const cudaArray_t array = arrayOf(elements, make_cudaExtent(20, 15, 4), cudaArrayLayered);
    const cudaArray_t array1D = arrayOf(elements, make_cudaExtent(20, 0, 4), cudaArrayLayered);
    const OnDevice device(randomCoordinates(n, 20, 15, 1, false, 981));
    const cudaTextureDesc description =
        described(cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
    for (const bool line : {false, true}) {
        const cudaTextureObject_t texture = textureOf(line ? array1D : array, description);
        float* out = static_cast<float*>(device.out);
        if (line)
            sampleLayers1D<<<device.blocks(), 128>>>(out, device.at, device.n, texture);
        else
            sampleLayers<<<device.blocks(), 128>>>(out, device.at, device.n, texture);
        recorded(line ? "layers_1D" : "layers_2D", device.out, device.n);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(array1D));
}

void gathered(int n) {
    const std::vector<float4> elements = randomElements<float4>(53 * 37, 990);
    const cudaArray_t array = arrayOf(elements, make_cudaExtent(53, 37, 0), cudaArrayTextureGather);
    for (const Mode& mode : modes) {
        const cudaTextureObject_t texture =
            textureOf(array, described(mode.address, cudaFilterModeLinear, cudaReadModeElementType,
                                       mode.normalised));
        const OnDevice device(randomCoordinates(n, 53, 37, 1, mode.normalised, 991));
        for (int component = 0; component < 4; component += 3) {
            gather<<<device.blocks(), 128>>>(static_cast<float4*>(device.out), device.at, device.n,
                                             texture, component);
            recorded(std::string("gather_") + mode.name + std::to_string(component), device.out,
                     device.n * 4);
        }
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFreeArray(array));
}

// Coordinates at and beside edges, and very small ones.
void edges() {
    const std::vector<float> elements = randomElements<float>(10, 1000);
    const cudaArray_t array = arrayOf(elements, make_cudaExtent(10, 0, 0));
    std::vector<Coordinates> all;
    for (const float edge : {0.0f, 0.1f, 0.5f, 1.0f, 2.0f, 9.5f, 10.0f})
        for (const float beside : {0.0f, 1e-20f, 1e-10f, 3e-8f, 1.2e-7f, 1e-6f, 3e-4f, 2e-3f})
            for (const float sign : {1.0f, -1.0f})
                for (const float side : {1.0f, -1.0f})
                    all.push_back({side * edge + sign * beside, 0, 0});
    const OnDevice device(all);
    for (const Mode& mode : modes)
        for (const Filter& filter : filters) {
            const cudaTextureObject_t texture = textureOf(
                array,
                described(mode.address, filter.mode, cudaReadModeElementType, mode.normalised));
            sample1D<<<device.blocks(), 128>>>(static_cast<float*>(device.out), device.at, device.n,
                                               texture);
            recorded(std::string("edges_") + mode.name + "_" + filter.name, device.out, device.n);
            CHECK(cudaDestroyTextureObject(texture));
        }
    CHECK(cudaFreeArray(array));
}

// The border's colour in textures of integers.
template <class Element, class Result>
void borderOfIntegers(const std::string& name, cudaTextureReadMode read) {
    const std::vector<Element> elements = randomElements<Element>(53 * 37, 1010);
    const cudaArray_t array = arrayOf(elements, make_cudaExtent(53, 37, 0));
    for (const Filter& filter : filters) {
        if (filter.mode == cudaFilterModeLinear && read == cudaReadModeElementType) continue;
        cudaTextureDesc description = described(cudaAddressModeBorder, filter.mode, read, false);
        for (int i = 0; i < 4; ++i)
            description.borderColor[i] = 0.3f + 0.4f * static_cast<float>(i);
        const cudaTextureObject_t texture = textureOf(array, description);
        const OnDevice device(randomCoordinates(200, 53, 37, 1, false, 1011));
        sample2D<<<device.blocks(), 128>>>(static_cast<Result*>(device.out), device.at, device.n,
                                           texture);
        recorded("border_" + name + "_" + filter.name, device.out, device.n * sizeof(Result) / 4);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFreeArray(array));
}

// Floats of 16 bits: all finite ones.
void halves() {
    std::vector<unsigned short> elements;
    for (unsigned bits = 0; bits < 65536; bits += 13)
        if ((bits >> 10 & 31) != 31) elements.push_back(static_cast<unsigned short>(bits));
    const cudaChannelFormatDesc channels = cudaCreateChannelDescHalf();
    const size_t width = elements.size();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &channels, width));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, elements.data(), 2 * width, 2 * width, 1,
                              cudaMemcpyHostToDevice));
    const OnDevice device(randomCoordinates(1000, static_cast<float>(width), 1, 1, false, 1020));
    for (const Filter& filter : filters) {
        const cudaTextureObject_t texture = textureOf(
            array, described(cudaAddressModeClamp, filter.mode, cudaReadModeElementType, false));
        sample1D<<<device.blocks(), 128>>>(static_cast<float*>(device.out), device.at, device.n,
                                           texture);
        recorded(std::string("half_") + filter.name, device.out, device.n);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFreeArray(array));
}

void usualModes() {
    const int few = samples / 4;
    const cudaTextureReadMode plain = cudaReadModeElementType, scaled = cudaReadModeNormalizedFloat;
    sweep<float>("sweep", 8, 3, 1, 0, plain, false, 2048);
    sweep<float>("sweep_far", 16000, 15000, 1, 0, plain, false, 2048);
    sweep<float>("sweep_norm", 8, 3, 1, 0, plain, true, 2048);
    sweep<float>("sweep_norm100", 100, 77, 1, 0, plain, true, 2048);
    sweep<float>("sweep_third", 8, 3, 1.0f / 3, 0.7f, plain, false, 512);
    sweep<float>("sweep_infinite", 8, 3, std::numeric_limits<float>::infinity(), 1, plain, false,
                 256);
    sweep<float>("sweep_tiny", 8, 3, 1e-38f, 3e-39f, plain, false, 256);
    sweep<unsigned char>("sweep_uchar", 8, 3, 255, 0, scaled, false, 1024);
    sweep<unsigned char>("sweep_uchar77", 8, 3, 77, 200, scaled, false, 512);
    sweep<unsigned short>("sweep_ushort", 8, 3, 65535, 3, scaled, false, 512);
    productOfWeights("products_2D", false, samples);
    productOfWeights("products_3D", true, samples);

    allModes<float, float>("float1D", make_cudaExtent(100, 0, 0), plain, samples, 100);
    allModes<float, float>("float2D", make_cudaExtent(53, 37, 0), plain, samples, 200);
    allModes<float, float>("wide2D", make_cudaExtent(64, 32, 0), plain, few, 250, 2);
    allModes<float, float>("float3D", make_cudaExtent(13, 11, 9), plain, samples, 300);
    allModes<float4, float4>("float4_2D", make_cudaExtent(53, 37, 0), plain, few, 400);
    allModes<unsigned char, float>("uchar2D", make_cudaExtent(53, 37, 0), scaled, samples, 500);
    allModes<unsigned char, float>("uchar3D", make_cudaExtent(13, 11, 9), scaled, few, 550);
    allModes<signed char, float>("char1D", make_cudaExtent(100, 0, 0), scaled, few, 600);
    allModes<unsigned short, float>("ushort2D", make_cudaExtent(53, 37, 0), scaled, few, 650);
    allModes<short, float>("short2D", make_cudaExtent(53, 37, 0), scaled, few, 700);
    allModes<uchar4, float4>("uchar4_2D", make_cudaExtent(53, 37, 0), scaled, few, 750);

    pitched(few);
    fetched<float, float>("float", plain);
    fetched<int, int>("int", plain);
    fetched<float4, float4>("float4", plain);
    fetched<unsigned char, float>("uchar", scaled);
    fetched<short, float>("short", scaled);
    bordered(few);
    mixed(few);
    layered(few);
    gathered(few);
}

void rareCases() {
    const cudaTextureReadMode plain = cudaReadModeElementType, scaled = cudaReadModeNormalizedFloat;
    edges();
    borderOfIntegers<unsigned char, float>("uchar", scaled);
    borderOfIntegers<short, float>("short", scaled);
    borderOfIntegers<uchar4, float4>("uchar4", scaled);
    borderOfIntegers<int, int>("int", plain);
    halves();
    sweep<float>("sweep_denormal", 8, 3, 2e-38f, 1e-38f, plain, false, 256);
    sweep<float>("sweep_small", 8, 3, 3e-38f, 0, plain, false, 256);
    sweep<float>("sweep_nan", 8, 3, NAN, 1, plain, false, 256);
    sweep<float>("sweep_zeros", 8, 3, -0.0f, -0.0f, plain, false, 64);
    sweep<float>("sweep_cancel", 8, 3, -1, 1, plain, false, 256);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    output = std::fopen(argv[1], "wb");
    if (output == nullptr) return 1;
    samples = std::atoi(argv[2]);
    if (samples > 0) {
        usualModes();
    } else {
        rareCases();
    }
    return std::fclose(output) == 0 ? 0 : 1;
}
