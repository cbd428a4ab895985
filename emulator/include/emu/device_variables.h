// Which variables of a program lie in the memory of the GPU, in programs that are compiled for the
// hazard check: here they are variables like those of the host.
//
// The translator puts `static const ::emu::DeviceVariable emuDevice_x(x);` behind `__device__ int
// x;`.
#pragma once

#include <cstddef>
#include <memory>

#include "emu/kernel_frame.h"

namespace emu {

void noteDeviceVariable(const volatile void* variable, size_t size);
// Separated by blanks: names that variables of the GPU have, and perhaps others, too. "*" is any.
void noteDeviceNames(const char* names);

struct DeviceVariable {
    template <class T>
    EMU_NOT_RECORDED explicit DeviceVariable(const T& variable) {
        noteDeviceVariable(std::addressof(variable), sizeof(T));
    }
};

// Of variables that have no name outside of a class, a template or a function.
struct DeviceNames {
    EMU_NOT_RECORDED explicit DeviceNames(const char* names) { noteDeviceNames(names); }
};

}  // namespace emu
