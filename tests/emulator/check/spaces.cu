// For test_spaces.py: programs that use an address of the host on the device, or the other way
// round, and programs that look like that and are right. `spaces NAME` runs one of them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <vector>

constexpr int kCount = 32;

__constant__ float coefficients[kCount];
__device__ float weights[kCount];
__device__ int counter;
__device__ int* x;
namespace inner {
__device__ int depth = 3;
}
static __device__ int hidden;
__device__ __managed__ int shared = 4;
template <class T>
__device__ T zero = 0;

float table[kCount];
static int steps[kCount];

// ---- variables of the device in kernels

__global__ void copyFrom(const float* from, float* to) {
    to[threadIdx.x] = from[threadIdx.x];  // copy-from
}
__global__ void copyOne(const int* from, int* to) {
    *to = *from;  // copy-one
}

struct Sources {
    int count;
    const float* from;
};
__global__ void copyFromSources(Sources sources, float* to) {
    to[threadIdx.x] = sources.from[threadIdx.x];
}
__global__ void copyFromTable(const Sources* sources, float* to) {
    if (threadIdx.x < sources->count) to[threadIdx.x] = sources->from[threadIdx.x];  // table-read
}
__global__ void keepsAddress(const float** where, const float** constant) {
    *where = weights;
    *constant = coefficients;
}
__device__ int uses() {
    static int calls;
    return atomicAdd(&calls, 1);
}
__global__ void usesByName(int* out) {
    static int done;
    atomicAdd(&counter, 1);
    out[threadIdx.x] = uses() + zero<int> + inner::depth + hidden + shared +
                       static_cast<int>(weights[threadIdx.x] + coefficients[threadIdx.x]) +
                       atomicAdd(&done, 1);
}

// ---- functions

using Operation = float (*)(float);
__device__ float twice(float x) {
    return 2 * x;
}
__device__ Operation chosen = twice;
__constant__ Operation constantOperation;
struct Step {
    float start;
    Operation operation;
};
__global__ void apply(float* data, Operation operation) {
    data[threadIdx.x] = operation(data[threadIdx.x]);
}
__global__ void applyStep(float* data, Step step) {
    data[threadIdx.x] = step.operation(step.start);
}
__global__ void applyStepAt(float* data, const Step* step) {
    data[threadIdx.x] = step->operation(step->start);  // step-read
}
__global__ void applyCopyOfStep(float* data, const Step* step) {
    const Step own = *step;  // step-copy
    data[threadIdx.x] = own.operation(own.start);
}
__global__ void ignoreOperation(float* data, const Step* step) {
    data[threadIdx.x] = step->start;
}
__global__ void makeStep(Step* step) {
    *step = {1, twice};
}
__global__ void applyConstant(float* data) {
    data[threadIdx.x] = constantOperation(1);
}

// ---- virtual functions

struct Shape {
    float side = 2;
    __host__ __device__ virtual float area() const { return 0; }
    __host__ __device__ virtual ~Shape() {}
};
struct Square : Shape {  // square
    __host__ __device__ float area() const override { return side * side; }
};
__global__ void areaOf(const Shape* shape, float* area) {
    *area = shape->area();  // area-read
}
__global__ void sideOf(const Square* shape, float* side) {
    *side = shape->side;
}
__global__ void areaOfOwn(const Square shape, float* area) {
    *area = shape.area();
}
__global__ void makeSquare(Square* where) {
    new (where) Square;
}
__global__ void makeShape(Shape** where) {
    *where = new Square;
}
__global__ void areaOfPointer(Shape* const* shape, float* area) {
    *area = (*shape)->area();
}
__global__ void deleteShape(Shape** where) {
    delete *where;
}

// ---- children

__global__ void child(const int* from, int* to) {
    to[threadIdx.x] = *from;
}
struct Both {
    const int* from;
    int* to;
};
__global__ void childOfStruct(Both both) {
    both.to[threadIdx.x] = *both.from;
}
__global__ void givesLocal(int* out) {
    int local = 5;
    child<<<1, 4>>>(&local, out);  // local-launch
}
__global__ void givesLocalInStruct(int* out) {
    int local[2] = {5, 6};
    childOfStruct<<<1, 4>>>({local + 1, out});  // struct-launch
}
__global__ void givesShared(int* out) {
    __shared__ int value;
    value = 5;
    child<<<1, 4>>>(&value, out);  // shared-launch
}
__global__ void givesGlobal(int* out, int* in) {
    int local = 5;
    *in = local;
    child<<<1, 4>>>(in, out);
}
__global__ void givesHeap(int* out) {
    int* in = (int*)malloc(sizeof(int));
    *in = 5;
    child<<<1, 4>>>(in, out);
}
__global__ void givesVariable(int* out) {
    child<<<1, 4>>>(&counter, out);
}

// ---- programs

float* floats() {
    float* memory;
    cudaMalloc(&memory, kCount * sizeof(float));
    cudaMemset(memory, 0, kCount * sizeof(float));
    return memory;
}
int* ints() {
    return reinterpret_cast<int*>(floats());
}
template <class T>
T* onDevice(const T& value) {
    T* memory;
    cudaMalloc(&memory, sizeof value);
    cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice);  // on-device
    return memory;
}
template <class T>
T fromDevice(const T* memory) {
    T value;
    cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}
template <class T>
T* managed(const T& value) {
    T* memory;
    cudaMallocManaged(&memory, sizeof value);
    return new (memory) T(value);  // managed-copy
}
Operation operationOfDevice() {
    Operation operation;
    cudaMemcpyFromSymbol(&operation, chosen, sizeof operation);
    return operation;
}
// Without room in front of it, the object is as the host has made it.
Square* rawSquare() {
    static Square square;
    void *memory, *object = &square;
    cudaMalloc(&memory, sizeof square);
    cudaMemcpy(memory, object, sizeof square, cudaMemcpyDefault);  // square-copy
    return static_cast<Square*>(memory);
}

const std::map<std::string, std::function<void()>> kPrograms = {
    // wrong
    {"constantArgument", [] { copyFrom<<<1, kCount>>>(coefficients, floats()); }},  // constant-arg
    {"arrayArgument", [] { copyFrom<<<1, 16>>>(weights + 16, floats()); }},         // array-arg
    {"addressArgument", [] { copyOne<<<1, 1>>>(&inner::depth, ints()); }},          // address-arg
    {"addressThroughApi",
     [] {
         const int* from = &hidden;
         int* to = ints();
         void* arguments[] = {&from, &to};
         cudaLaunchKernel((void*)copyOne, 1, 1, arguments);  // api-arg
     }},
    {"copyByAddress",
     [] {
         cudaMemcpyToSymbol(weights, table, sizeof table);
         cudaMemcpy(weights, table, sizeof table, cudaMemcpyHostToDevice);  // copy-by-address
     }},
    {"fillByAddress",
     [] {
         cudaMemcpyToSymbol(weights, table, sizeof table);
         cudaMemset(weights, 0, sizeof table);  // fill-by-address
     }},
    {"symbolInStruct",
     [] {
         copyFromSources<<<1, kCount>>>({kCount, weights}, floats());  // struct-arg
     }},
    {"symbolInMemory",
     [] {
         const Sources* sources = onDevice(Sources{kCount, weights});
         copyFromTable<<<1, kCount>>>(sources, floats());
     }},
    {"symbolInManaged",
     [] {
         Sources* sources;
         cudaMallocManaged(&sources, sizeof *sources);
         sources->count = kCount;
         sources->from = weights;  // managed-write
         copyFromTable<<<1, kCount>>>(sources, floats());
     }},
    {"functionArgument", [] { apply<<<1, kCount>>>(floats(), twice); }},            // function-arg
    {"functionInStruct", [] { applyStep<<<1, kCount>>>(floats(), {1, &twice}); }},  // step-arg
    {"functionInMemory", [] { applyStepAt<<<1, kCount>>>(floats(), onDevice(Step{1, twice})); }},
    {"functionInCopiedStruct",
     [] { applyCopyOfStep<<<1, kCount>>>(floats(), onDevice(Step{1, twice})); }},
    {"functionInManaged", [] { applyStepAt<<<1, kCount>>>(floats(), managed(Step{1, twice})); }},
    {"functionInConstant",
     [] {
         const Operation operation = twice;
         cudaMemcpyToSymbol(constantOperation, &operation, sizeof operation);  // constant-copy
         applyConstant<<<1, kCount>>>(floats());
     }},
    {"virtualInMemory", [] { areaOf<<<1, 1>>>(rawSquare(), floats()); }},
    {"virtualInManaged", [] { areaOf<<<1, 1>>>(managed(Square()), floats()); }},
    {"virtualArgument", [] { areaOfOwn<<<1, 1>>>(Square(), floats()); }},  // square-arg
    {"hostVariable", [] { copyFrom<<<1, kCount>>>(table, floats()); }},
    {"hostStatic", [] { copyOne<<<1, 1>>>(steps, ints()); }},
    {"hostStaticInFunction",
     [] {
         static float inFunction[kCount];
         copyFrom<<<1, kCount>>>(inFunction, floats());
     }},
    {"hostLocal",
     [] {
         const float local[kCount] = {};
         copyFrom<<<1, kCount>>>(local, floats());
     }},
    {"hostVector",
     [] {
         const std::vector<float> vector(kCount);
         copyFrom<<<1, kCount>>>(vector.data(), floats());
     }},
    {"forgottenDeepCopy",
     [] {
         const std::vector<float> vector(kCount);
         const Sources* sources = onDevice(Sources{kCount, vector.data()});
         copyFromTable<<<1, kCount>>>(sources, floats());
     }},
    {"hostReads", [] { std::printf("%d\n", counter); }},        // host-read
    {"hostWrites", [] { inner::depth = 7; }},                   // host-write
    {"hostReadsElement", [] { table[0] = weights[3]; }},        // host-element
    {"hostReadsConstant", [] { table[0] = coefficients[2]; }},  // host-constant
    {"hostPoints",
     [] {
         int* pointer = &hidden;
         ++*pointer;  // host-points
     }},
    {"allocatesIntoVariable", [] { cudaMalloc(&x, sizeof(int)); }},  // into-variable
    {"allocatesRowsOnDevice",
     [] {
         float** rows;
         cudaMalloc(&rows, 4 * sizeof *rows);
         for (int i = 0; i < 4; ++i) cudaMalloc((void**)&rows[i], 64);  // rows-alloc
     }},
    {"managedRowsOnDevice",
     [] {
         float** rows;
         cudaMalloc(&rows, 4 * sizeof *rows);
         cudaMallocManaged(rows + 1, 64);  // managed-rows
     }},
    {"childOfLocal", [] { givesLocal<<<1, 1>>>(ints()); }},
    {"childOfLocalInStruct", [] { givesLocalInStruct<<<1, 1>>>(ints()); }},
    {"childOfShared", [] { givesShared<<<1, 1>>>(ints()); }},

    // right
    {"symbolAddress",
     [] {
         float *from, *constant;
         int* to = ints();
         cudaGetSymbolAddress((void**)&from, weights);
         cudaGetSymbolAddress((void**)&constant, coefficients);
         copyFrom<<<1, 16>>>(from + 16, floats());
         cudaMemcpy(from, table, sizeof table, cudaMemcpyHostToDevice);
         cudaMemset(from, 0, sizeof table);
         copyFrom<<<1, kCount>>>(constant, floats());
         copyFromTable<<<1, kCount>>>(onDevice(Sources{kCount, from}), floats());
         cudaGetSymbolAddress((void**)&to, counter);
         copyOne<<<1, 1>>>(to, ints());
     }},
    {"symbolAddressOfKernel",
     [] {
         const float** addresses;
         cudaMalloc(&addresses, 2 * sizeof *addresses);
         keepsAddress<<<1, 1>>>(addresses, addresses + 1);
         copyFrom<<<1, kCount>>>(fromDevice(addresses), floats());
         copyFrom<<<1, kCount>>>(fromDevice(addresses + 1), floats());
     }},
    {"symbolAddressOfKernelInManaged",
     [] {
         const float** addresses;
         cudaMallocManaged(&addresses, 2 * sizeof *addresses);
         keepsAddress<<<1, 1>>>(addresses, addresses + 1);
         cudaDeviceSynchronize();
         copyFrom<<<1, kCount>>>(addresses[0], floats());
         copyFrom<<<1, kCount>>>(addresses[1], floats());
     }},
    {"variablesByName", [] { usesByName<<<1, kCount>>>(ints()); }},
    {"copiesOfSymbols",
     [] {
         int value = 3;
         cudaMemcpyToSymbol(counter, &value, sizeof value);
         cudaMemcpyFromSymbol(&value, inner::depth, sizeof value);
         cudaMemcpyToSymbol(coefficients, table, sizeof table);
         cudaMemcpyFromSymbol(table, weights, sizeof table);
         shared = value;
         copyOne<<<1, 1>>>(&shared, ints());
         cudaDeviceSynchronize();
         std::printf("%d\n", shared);
     }},
    {"pointerInVariable",
     [] {
         int* memory = ints();
         cudaMemcpyToSymbol(x, &memory, sizeof memory);
         cudaMemcpyFromSymbol(&memory, x, sizeof memory);
         copyOne<<<1, 1>>>(memory, ints());
     }},
    {"functionOfDevice",
     [] {
         const Operation operation = operationOfDevice();
         apply<<<1, kCount>>>(floats(), operation);
         applyStep<<<1, kCount>>>(floats(), {1, operation});
         applyStepAt<<<1, kCount>>>(floats(), onDevice(Step{1, operation}));
         cudaMemcpyToSymbol(constantOperation, &operation, sizeof operation);
         applyConstant<<<1, kCount>>>(floats());
     }},
    {"functionStoredByKernel",
     [] {
         Step *first, *second;
         cudaMalloc(&first, sizeof *first);
         cudaMalloc(&second, sizeof *second);
         makeStep<<<1, 1>>>(first);
         cudaMemcpy(second, first, sizeof *first, cudaMemcpyDeviceToDevice);
         applyStepAt<<<1, kCount>>>(floats(), second);
         applyStep<<<1, kCount>>>(floats(), fromDevice(first));
     }},
    {"functionStoredByKernelInManaged",
     [] {
         Step* step = managed(Step{});
         makeStep<<<1, 1>>>(step);
         cudaDeviceSynchronize();
         const Step copy = *step;
         applyStep<<<1, kCount>>>(floats(), copy);
         applyCopyOfStep<<<1, kCount>>>(floats(), step);
     }},
    {"functionReplacedByKernel",
     [] {
         Step* step = onDevice(Step{1, twice});
         makeStep<<<1, 1>>>(step);
         applyStepAt<<<1, kCount>>>(floats(), step);
     }},
    {"functionUnused", [] { ignoreOperation<<<1, kCount>>>(floats(), onDevice(Step{1, twice})); }},
    {"virtualUnused", [] { sideOf<<<1, 1>>>(rawSquare(), floats()); }},
    {"virtualOfKernel",
     [] {
         Square* square;
         Shape** pointer;
         cudaMalloc(&square, sizeof *square);
         cudaMalloc(&pointer, sizeof *pointer);
         makeSquare<<<1, 1>>>(square);
         areaOf<<<1, 1>>>(square, floats());
         makeShape<<<1, 1>>>(pointer);
         areaOfPointer<<<1, 1>>>(pointer, floats());
         deleteShape<<<1, 1>>>(pointer);
         Square* inPlace = rawSquare();
         makeSquare<<<1, 1>>>(inPlace);
         areaOf<<<1, 1>>>(inPlace, floats());
     }},
    {"virtualOnHost",
     [] {
         const Square square;
         table[0] = square.area();
         sideOf<<<1, 1>>>(managed(square), floats());
     }},
    {"hostMemoryOfDevice",
     [] {
         float *pinned, *unified;
         static float registered[kCount];
         cudaMallocHost(&pinned, sizeof registered);
         cudaMallocManaged(&unified, sizeof registered);
         cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault);
         std::memset(pinned, 0, sizeof registered);
         std::memset(unified, 0, sizeof registered);
         copyFrom<<<1, kCount>>>(pinned, floats());
         copyFrom<<<1, kCount>>>(unified, floats());
         copyFrom<<<1, kCount>>>(registered, floats());
         cudaDeviceSynchronize();
         cudaHostUnregister(registered);
     }},
    {"deepCopy",
     [] {
         const std::vector<float> vector(kCount);
         float* copy = floats();
         cudaMemcpy(copy, vector.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
         copyFromTable<<<1, kCount>>>(onDevice(Sources{kCount, copy}), floats());
     }},
    {"rowsOnDevice",
     [] {
         float* rows[4];
         for (float*& row : rows) cudaMalloc(&row, 64);
         float** onIt;
         cudaMalloc(&onIt, sizeof rows);
         cudaMemcpy(onIt, rows, sizeof rows, cudaMemcpyHostToDevice);
     }},
    {"childOfGlobal", [] { givesGlobal<<<1, 1>>>(ints(), ints()); }},
    {"childOfHeap", [] { givesHeap<<<1, 1>>>(ints()); }},
    {"childOfVariable", [] { givesVariable<<<1, 1>>>(ints()); }},
};

int main(int, char** argv) {
    usesByName<<<1, 1>>>(ints());
    kPrograms.at(argv[1])();
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s: %s\n", argv[1], cudaGetErrorName(error));
}
