#include "byte_fills.h"

#include <algorithm>

#include "past_work.h"

namespace emu {
namespace {

// What people mean by a number. 0x3f and above are chosen for what the bytes are together, as a
// large number, and 0 is right for numbers of any size.
bool isMeantAsNumber(unsigned value) {
    return value > 0 && value < 0x3f;
}

// Of single bytes nothing else can be meant, and a float4 may be four characters of four strings.
bool isNumber(size_t bytes) {
    return bytes == 2 || bytes == 4 || bytes == 8;
}

}  // namespace

void ByteFills::filled(const BytesSeen& memory, unsigned value, uintptr_t pc) {
    if (!isMeantAsNumber(value)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    fills_.push_back({memory.first, endOf(memory), value, pc});
    any_ = true;
}

void ByteFills::overwritten(const BytesSeen& memory) {
    if (!any()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    const uintptr_t end = endOf(memory);
    const auto meets = [&](const ByteFill& fill) {
        return fill.begin < end && memory.first < fill.end;
    };
    fills_.erase(std::remove_if(fills_.begin(), fills_.end(), meets), fills_.end());
    any_ = !fills_.empty();
}

std::optional<ByteFill> ByteFills::read(uintptr_t address, size_t bytes) {
    if (!isNumber(bytes)) return std::nullopt;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto fill = fills_.begin(); fill != fills_.end(); ++fill) {
        if (address < fill->begin || address + bytes > fill->end) continue;
        const auto* value = reinterpret_cast<const unsigned char*>(address);
        const auto isOfFill = [&](unsigned char byte) { return byte == fill->value; };
        if (!std::all_of(value, value + bytes, isOfFill)) return std::nullopt;
        const ByteFill found = *fill;
        fills_.erase(fill);
        any_ = !fills_.empty();
        return found;
    }
    return std::nullopt;
}

}  // namespace emu
