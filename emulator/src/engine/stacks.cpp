#include "stacks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <vector>

namespace emu {
namespace {

constexpr size_t kStacksPerMapping = 32;
constexpr size_t kUsualMostMappings = 65530;
constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL, which older headers do not have

struct Pool {
    std::mutex mutex;
    std::vector<Stack> unused;
    size_t guardMappings = 0;  // that guarded gaps cost so far
};

Pool& pool() {
    static Pool& instance = *new Pool;  // never destroyed: OS threads give back when they end
    return instance;
}

// Are there mappings for the guarded gaps of one more mapping of stacks? The rest of the process
// needs some, too.
bool mayGuard(const Pool& known) {
    static const size_t most = [] {
        std::ifstream file("/proc/sys/vm/max_map_count");
        size_t count = 0;
        return (file >> count ? count : kUsualMostMappings) / 4 * 3;
    }();
    return known.guardMappings + 2 * kStacksPerMapping <= most;
}

// QEMU's user mode says yes to any advice, and does nothing.
bool takesAdvice(char* memory) {
    constexpr int kNone = -1;
    return madvise(memory, pageSize(), kNone) != 0;
}

// The gap below each of these stacks faults from now on.
bool guard(Pool& known, const std::vector<Stack>& stacks) {
    const auto all = [&](auto&& guardGap) {
        return std::all_of(stacks.begin(), stacks.end(), [&](const Stack& stack) {
            return guardGap(stack.bottom - kStackGap) == 0;
        });
    };
    const bool advised = takesAdvice(stacks.front().bottom) &&
                         all([](char* gap) { return madvise(gap, kStackGap, kGuardInstall); });
    if (advised) return true;
    if (!mayGuard(known)) return false;
    known.guardMappings += 2 * kStacksPerMapping;
    return all([](char* gap) { return mprotect(gap, kStackGap, PROT_NONE); });
}

// Maps more stacks. Returns false if there is no more memory.
bool addStacks(Pool& known) {
    constexpr size_t each = kStackGap + kFiberStackSize;
    void* memory = mmap(nullptr, kStacksPerMapping * each, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return false;
    // A huge page would commit the whole of eight stacks.
    (void)madvise(memory, kStacksPerMapping * each, MADV_NOHUGEPAGE);
    std::vector<Stack> stacks;
    for (size_t i = 0; i < kStacksPerMapping; ++i)
        stacks.push_back({static_cast<char*>(memory) + i * each + kStackGap});
    const bool guarded = guard(known, stacks);
    for (Stack& stack : stacks) stack.guarded = guarded;
    known.unused.insert(known.unused.end(), stacks.begin(), stacks.end());
    return true;
}

}  // namespace

size_t pageSize() {
    static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

Stack takeStack() {
    Pool& known = pool();
    const std::lock_guard<std::mutex> lock(known.mutex);
    if (known.unused.empty() && !addStacks(known)) return {};
    const Stack stack = known.unused.back();
    known.unused.pop_back();
    return stack;
}

void giveBackStack(const Stack& stack) {
    (void)madvise(stack.bottom, kFiberStackSize, MADV_DONTNEED);  // zeroes it
    Pool& known = pool();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.unused.push_back(stack);
}

}  // namespace emu
