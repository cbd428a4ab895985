#include "capacity.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../../common/host_memory.h"

namespace emu {

size_t totalMemory() {
    static const size_t total = host::memory().total;
    return total;
}

size_t freeMemory(size_t unwritten) {
    constexpr size_t kKept = 32;  // one part in so many is for stacks, page tables, the heap ...
    const size_t available = host::memory().available / kKept * (kKept - 1);
    return std::min(available - std::min(available, unwritten), host::addressesLeft());
}

size_t unwrittenBytes(const void* memory, size_t size) {
    constexpr size_t kPagesAtOnce = 16 * 1024;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto base = reinterpret_cast<uintptr_t>(memory);
    uintptr_t begin = (base + page - 1) / page * page;
    const uintptr_t end = (base + size) / page * page;
    std::vector<unsigned char> resident(kPagesAtOnce);
    size_t absent = 0;
    while (begin < end) {
        const size_t pages = std::min((end - begin) / page, kPagesAtOnce);
        if (mincore(reinterpret_cast<void*>(begin), pages * page, resident.data()) != 0) return 0;
        const auto last = resident.begin() + static_cast<std::ptrdiff_t>(pages);
        absent += static_cast<size_t>(std::count_if(
            resident.begin(), last, [](unsigned char flags) { return (flags & 1) == 0; }));
        begin += pages * page;
    }
    return absent * page;
}

}  // namespace emu
