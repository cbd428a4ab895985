// Copies to and from __device__, __constant__ and __managed__ variables ("symbols"). They are
// passed by name; their sizes bound the copies [bytes].
#pragma once

#include <memory>
#include <type_traits>

#include "emu/runtime_types.h"

namespace emu {

// A symbol: its address, and its size where the type tells it, else 0 (looked up in the symbol
// table of the program).
struct Symbol {
    const void* address;
    size_t size;
    bool mayBeText = false;  // an array of char, as "name" is
};

template <typename T>
Symbol symbolOf(const T& symbol) {
    const volatile void* address = std::addressof(symbol);
    const bool isText = std::is_array<T>::value &&
                        std::is_same<std::remove_cv_t<std::remove_extent_t<T>>, char>::value;
    return {const_cast<const void*>(address), sizeof(T), isText};
}
inline Symbol symbolOf(const void* symbol) {
    return {symbol, 0};
}

enum class CopyMode { Sync, Async };
cudaError_t copyToSymbol(Symbol symbol, const void* src, size_t count, size_t offset,
                         cudaMemcpyKind kind, cudaStream_t stream, CopyMode mode);
cudaError_t copyFromSymbol(void* dst, Symbol symbol, size_t count, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, CopyMode mode);
cudaError_t symbolAddress(void** pointer, Symbol symbol);
cudaError_t symbolSize(size_t* size, Symbol symbol);

}  // namespace emu

template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t count, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return emu::copyToSymbol(emu::symbolOf(symbol), src, count, offset, kind, nullptr,
                             emu::CopyMode::Sync);
}

template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    return emu::copyToSymbol(emu::symbolOf(symbol), src, count, offset, kind, stream,
                             emu::CopyMode::Async);
}

template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return emu::copyFromSymbol(dst, emu::symbolOf(symbol), count, offset, kind, nullptr,
                               emu::CopyMode::Sync);
}

template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    return emu::copyFromSymbol(dst, emu::symbolOf(symbol), count, offset, kind, stream,
                               emu::CopyMode::Async);
}

template <typename T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
    return emu::symbolAddress(pointer, emu::symbolOf(symbol));
}

template <typename T>
cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
    return emu::symbolSize(size, emu::symbolOf(symbol));
}
