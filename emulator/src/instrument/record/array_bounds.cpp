// What instrumented code calls where an index is outside of its array: -fsanitize=bounds, whose
// checks the compilers put into it, knows the arrays' types. The structs are laid out as in the
// sanitizer's own library (compiler-rt, ubsan_handlers.h and ubsan_value.h).
#include <cstdint>
#include <string>

#include "recorder.h"

namespace {

struct TypeDescriptor {
    uint16_t kind;
    uint16_t info;  // of an integer: twice the logarithm of its bits, plus 1 if signed
    char name[1];   // in quotes
};
struct Index {
    struct {
        const char* file;
        uint32_t line;
        uint32_t column;
    } location;
    const TypeDescriptor* array;
    const TypeDescriptor* index;
};

// (One of more than 64 bits comes by its address.)
std::string integerText(const TypeDescriptor& type, uintptr_t value) {
    const unsigned bits = 1u << (type.info >> 1);
    if (bits > 64) return "of more than 64 bits";
    const unsigned unused = 64 - bits;
    const auto high = static_cast<uint64_t>(value) << unused;
    if ((type.info & 1) == 0) return std::to_string(high >> unused);
    return std::to_string(static_cast<int64_t>(high) >> unused);
}

void report(const Index& index, uintptr_t value, void* pc) {
    const std::string quoted = index.array->name;
    emu::recorder->badIndex({integerText(*index.index, value), quoted.substr(1, quoted.size() - 2),
                             reinterpret_cast<uintptr_t>(pc)});
}

}  // namespace

extern "C" {

// g++ calls it for each that is outside; of host code nobody asks.
void __ubsan_handle_out_of_bounds(const Index* index, uintptr_t value) {
    if (emu::recorder != nullptr) report(*index, value, __builtin_return_address(0));
}

// Of clang's code, always: instrument_clang.py makes a call of its branch.
void __emu_check_index(const Index* index, uintptr_t value, bool isInside) {
    if (!isInside && emu::recorder != nullptr) report(*index, value, __builtin_return_address(0));
}

}  // extern "C"
