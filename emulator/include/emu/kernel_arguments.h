// What a launch passes to a kernel, in programs that are compiled for the hazard check: an address
// may be good on the other side alone.
#pragma once

#include <cstddef>
#include <type_traits>

#include "emu/kernel_frame.h"

namespace emu {

struct KernelArgument {
    const void* value;
    size_t size;     // bytes
    bool isPointer;  // else an object, which may hold some
};

// In the order of the parameters, for a launch by the host or by a kernel. `name` and `id` are
// those of a KernelCall.
void noteArguments(const char* name, const void* id, const KernelArgument* arguments,
                   size_t count) noexcept;

template <class T>
EMU_NOT_RECORDED KernelArgument kernelArgument(const T& value) noexcept {
    constexpr bool kMayHoldPointers = std::is_pointer<T>::value || std::is_class<T>::value ||
                                      std::is_union<T>::value || std::is_member_pointer<T>::value;
    return {__builtin_addressof(value), kMayHoldPointers ? sizeof(T) : 0,
            std::is_pointer<T>::value};
}

// What an earlier value left in the padding of a struct may look like a pointer.
template <class T>
EMU_NOT_RECORDED void clearPadding([[maybe_unused]] T& value) noexcept {
#if __has_builtin(__builtin_clear_padding)
    if constexpr (std::is_class<T>::value && std::is_trivially_copyable<T>::value) {
        __builtin_clear_padding(__builtin_addressof(value));
    }
#endif
}

template <class... Args>
EMU_NOT_RECORDED void noteArgumentsOf(const char* name, const void* id, Args&... args) noexcept {
    (clearPadding(args), ...);
    const KernelArgument arguments[] = {kernelArgument(args)..., {}};
    noteArguments(name, id, arguments, sizeof...(Args));
}

}  // namespace emu
