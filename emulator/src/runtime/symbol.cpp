// Copies to and from __device__, __constant__ and __managed__ variables.
#include <optional>
#include <string>

#include "copy.h"
#include "emu/api/symbols.h"
#include "engine/allocations.h"
#include "engine/number_text.h"
#include "engine/program_symbols.h"
#include "engine/watcher.h"
#include "error.h"

namespace emu {
namespace {

constexpr const char* kNoSymbol =
    "this is no __device__, __constant__ or __managed__ variable: copy to and from pointers with "
    "cudaMemcpy()";

bool known(const Allocation& allocation, const void* address) {
    // All __managed__ variables are one allocation.
    return allocation.kind == MemoryKind::ManagedSymbol ||
           (allocation.kind == MemoryKind::Symbol && allocation.base == address);
}

// Checks that `symbol` names a variable with static storage, as device symbols are, completes its
// size and makes it known to copies through pointers.
cudaError_t resolve(Symbol* symbol) {
    if (symbol->address == nullptr) return because(cudaErrorInvalidSymbol, kNoSymbol);
    const std::optional<Allocation> allocation = findAllocation(symbol->address);
    if (allocation && allocation->kind == MemoryKind::Symbol &&
        known(*allocation, symbol->address)) {
        symbol->size = allocation->size;
        return cudaSuccess;
    }
    if (allocation && !known(*allocation, symbol->address)) {
        return because(cudaErrorInvalidSymbol, kNoSymbol);
    }
    const ImagePart part = imagePartOf(symbol->address);
    if (part != ImagePart::Writable && part != ImagePart::Constant) {
        return because(cudaErrorInvalidSymbol, kNoSymbol);
    }
    // A name like table[0] has the type of an element but means the whole variable; table[2] means
    // nothing. A stripped program leaves only the type.
    if (const std::optional<Variable> variable = variableAt(symbol->address)) {
        if (variable->base != symbol->address) {
            return because(cudaErrorInvalidSymbol,
                           "this is a part of a variable: pass the variable itself, and the offset "
                           "in bytes behind the size");
        }
        symbol->size = variable->size;
    } else if (symbol->mayBeText && part == ImagePart::Constant) {
        return because(cudaErrorInvalidSymbol,
                       "this is a string, and no longer the name of a variable since CUDA 5: pass "
                       "the variable itself, without quotes");
    }
    if (symbol->size == 0) return cudaErrorInvalidSymbol;
    if (!allocation) addAllocation({symbol->address, symbol->size, MemoryKind::Symbol});
    return cudaSuccess;
}

// The part of the symbol that a copy touches, checked against its size.
cudaError_t partOf(Symbol symbol, size_t count, size_t offset, char** part) {
    const cudaError_t error = resolve(&symbol);
    if (error != cudaSuccess) return error;
    if (offset > symbol.size || count > symbol.size - offset) {
        return because(cudaErrorInvalidValue, [=] {
            return "the variable has " + bytes(symbol.size) + "; the call asks for " +
                   number(count) + (offset == 0 ? "" : " from byte " + number(offset) + " on");
        });
    }
    *part = static_cast<char*>(const_cast<void*>(symbol.address)) + offset;
    return cudaSuccess;
}

cudaError_t submitCopy(Copy copy, cudaStream_t stream, CopyMode mode) {
    copy.byName = true;
    return mode == CopyMode::Sync ? submitSync(copy) : submitAsync(copy, stream);
}

}  // namespace

cudaError_t copyToSymbol(Symbol symbol, const void* src, size_t count, size_t offset,
                         cudaMemcpyKind kind, cudaStream_t stream, CopyMode mode) {
    return hostApi("cudaMemcpyToSymbol", [&] {
        if (count == 0) return cudaSuccess;
        if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost) {
            return because(cudaErrorInvalidMemcpyDirection,
                           "a variable of the device is the destination: the direction is "
                           "cudaMemcpyHostToDevice or cudaMemcpyDeviceToDevice");
        }
        char* part = nullptr;
        const cudaError_t error = partOf(symbol, count, offset, &part);
        if (error != cudaSuccess) return error;
        // A `const` variable: the compiler has used its value already, so a copy would be lost.
        if (imagePartOf(part) == ImagePart::Constant) return cudaErrorNotSupported;
        return submitCopy(linearCopy(part, src, count, kind), stream, mode);
    });
}

cudaError_t copyFromSymbol(void* dst, Symbol symbol, size_t count, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, CopyMode mode) {
    return hostApi("cudaMemcpyFromSymbol", [&] {
        if (count == 0) return cudaSuccess;
        if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice) {
            return because(cudaErrorInvalidMemcpyDirection,
                           "a variable of the device is the source: the direction is "
                           "cudaMemcpyDeviceToHost or cudaMemcpyDeviceToDevice");
        }
        char* part = nullptr;
        const cudaError_t error = partOf(symbol, count, offset, &part);
        if (error != cudaSuccess) return error;
        return submitCopy(linearCopy(dst, part, count, kind), stream, mode);
    });
}

cudaError_t symbolAddress(void** pointer, Symbol symbol) {
    return hostApi("cudaGetSymbolAddress", [&] {
        if (pointer == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = resolve(&symbol);
        if (error != cudaSuccess) return error;
        if (watcher != nullptr) watcher->symbolAddressGiven(symbol.address);
        *pointer = const_cast<void*>(symbol.address);
        return cudaSuccess;
    });
}

cudaError_t symbolSize(size_t* size, Symbol symbol) {
    return hostApi("cudaGetSymbolSize", [&] {
        if (size == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = resolve(&symbol);
        if (error == cudaSuccess) *size = symbol.size;
        return error;
    });
}

}  // namespace emu
