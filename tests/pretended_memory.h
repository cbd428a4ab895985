#pragma once
// For programs that --wrap puts this into: the host has the memory that the test says.

#include "../common/host_memory.h"
#include "wrapped.h"

inline host::Memory pretended = {std::size_t{8} << 30, std::size_t{4} << 30};

host::Memory pretendedMemory(const std::string& root)
    LAB_WRAPPED("_ZN4host6memoryERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");

host::Memory pretendedMemory(const std::string&) {
    return pretended;
}
