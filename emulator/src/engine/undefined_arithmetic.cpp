// Ends kernels that shift or convert out of range where the translator could not put in what a GPU
// does (translator/arithmetic.py): in macros, in functions without __device__, on bit-fields, in
// `int i = x;`. And on AArch64 those that divide integers by zero or access what is misaligned, of
// which x86-64 complains itself (fault.cpp).
//
// Programs are compiled with -fsanitize=shift-exponent,float-cast-overflow (on AArch64 with
// integer-divide-by-zero,alignment, too), whose checks call these functions in place of the
// sanitizer's own library. The structs are laid out as there (compiler-rt, ubsan_handlers.h and
// ubsan_value.h).
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "emu/division.h"
#include "messages.h"
#include "scheduler.h"

namespace {

struct SourceLocation {
    const char* file;
    uint32_t line;
    uint32_t column;
};
struct TypeDescriptor {
    uint16_t kind;  // 0: integer, 1: floating point
    uint16_t info;  // of an integer: twice the logarithm of its bits, plus 1 if signed; else bits
    char name[1];   // in quotes
};
struct Shift {
    SourceLocation location;
    const TypeDescriptor* left;
    const TypeDescriptor* right;
};
struct Conversion {
    SourceLocation location;
    const TypeDescriptor* from;
    const TypeDescriptor* to;
};
struct Overflow {
    SourceLocation location;
    const TypeDescriptor* type;
};
struct Mismatch {
    SourceLocation location;
    const TypeDescriptor* type;
    uint8_t logOfAlignment;
    uint8_t kindOfAccess;
};
struct Assumption {
    SourceLocation location;
    SourceLocation ofAttribute;
    const TypeDescriptor* type;
};
using Value = uintptr_t;  // the bits, or where they are if they are too many

unsigned bitsOf(const TypeDescriptor& integer) {
    return 1u << (integer.info >> 1);
}

std::string integerText(const TypeDescriptor& type, Value value) {
    const unsigned bits = bitsOf(type);
    if (bits > 64) return "an amount of more than 64 bits";
    const unsigned unused = 64 - bits;
    const auto high = static_cast<uint64_t>(value) << unused;
    if ((type.info & 1) == 0) return std::to_string(high >> unused);
    return std::to_string(static_cast<int64_t>(high) >> unused);
}

std::string realText(const TypeDescriptor& type, Value value) {
    if (type.info == 32) {
        const auto bits = static_cast<uint32_t>(value);
        float number;
        std::memcpy(&number, &bits, sizeof(number));
        return emu::format("%g", static_cast<double>(number));
    }
    double number;
    if (type.info != 64) return "a number";
    std::memcpy(&number, &value, sizeof(number));
    return emu::format("%g", number);
}

std::string text(const SourceLocation& location) {
    return emu::format("%s:%u", location.file, location.line);
}

// In host code: the sanitizer's own function `name`, if the user has asked for it as well.
template <class... Values>
void onHost(const char* name, Values... values) {
    if (void* const own = dlsym(RTLD_NEXT, name)) {
        reinterpret_cast<void (*)(Values...)>(own)(values...);
    }
}

}  // namespace

extern "C" {

void __ubsan_handle_shift_out_of_bounds(Shift* shift, Value left, Value right) {
    if (!emu::inDevice()) return onHost(__func__, shift, left, right);
    const unsigned bits = bitsOf(*shift->left);
    emu::failKernel(
        cudaErrorLaunchFailure,
        emu::format("%s: shift by %s of %s, which has %u bits: C++ leaves the result open here. "
                    "A shift has a GPU's result in a __global__ or __device__ function, outside of "
                    "macros and not on a bit-field: write it so, or keep the amount from 0 to %u",
                    text(shift->location).c_str(), integerText(*shift->right, right).c_str(),
                    shift->left->name, bits, bits - 1));
}

void __ubsan_handle_float_cast_overflow(Conversion* conversion, Value from) {
    if (!emu::inDevice()) return onHost(__func__, conversion, from);
    const char* const to = conversion->to->name;
    emu::failKernel(
        cudaErrorLaunchFailure,
        emu::format("%s: %s does not fit into %s: C++ leaves the result of this conversion open. "
                    "A cast to a type's own name, as (int)x, has a GPU's result in a __global__ or "
                    "__device__ function, outside of macros: write one, or test the value before",
                    text(conversion->location).c_str(), realText(*conversion->from, from).c_str(),
                    to));
}

void __ubsan_handle_divrem_overflow(Overflow* division, Value dividend, Value divisor) {
    if (!emu::inDevice()) return onHost(__func__, division, dividend, divisor);
    emu::failDivisionByZero();
}

void __ubsan_handle_type_mismatch_v1(Mismatch* access, Value address) {
    if (!emu::inDevice()) return onHost(__func__, access, address);
    emu::failKernel(
        cudaErrorMisalignedAddress,
        emu::format("misaligned address %p: an access of type %s needs a multiple of %u",
                    reinterpret_cast<const void*>(address), access->type->name,
                    1u << access->logOfAlignment),
        emu::Failure::MisalignedAccess);
}

// clang's alone: of __builtin_assume_aligned(address, alignment, offset).
void __ubsan_handle_alignment_assumption(Assumption* assumption, Value address, Value alignment,
                                         Value offset) {
    if (!emu::inDevice()) return onHost(__func__, assumption, address, alignment, offset);
    emu::failKernel(
        cudaErrorMisalignedAddress,
        emu::format("misaligned address %p: %s says that it is a multiple of %llu",
                    reinterpret_cast<const void*>(address - offset),
                    text(assumption->location).c_str(), static_cast<unsigned long long>(alignment)),
        emu::Failure::MisalignedAccess);
}

// Of a struct, which instrument_clang.py checks.
void emu_misaligned_copy(const void* address, uint64_t multiple) {
    if (!emu::inDevice()) return;
    emu::failKernel(cudaErrorMisalignedAddress,
                    emu::format("misaligned address %p: an access of this type needs a multiple "
                                "of %llu",
                                address, static_cast<unsigned long long>(multiple)),
                    emu::Failure::MisalignedAccess);
}

}  // extern "C"
