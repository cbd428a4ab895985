// Memory for the stacks of fibers. 256 multiprocessors with 1024 waiting threads each need 262,144
// of them, and Linux gives a process 65,530 mappings (vm.max_map_count): many share one.
#pragma once

#include <cstddef>

namespace emu {

constexpr size_t kFiberStackSize =
    256 * 1024;  // a GPU allows 512 KiB of local memory per thread; committed on first touch only

// Below each stack, used by nobody: a stack that overflows, even by an array of some KiB at a time,
// gets there first, and not into what another thread has on the stack below.
constexpr size_t kStackGap = 64 * 1024;

struct Stack {
    char* bottom = nullptr;  // the lowest address of kFiberStackSize bytes; nullptr: there is none
    bool guarded = false;    // whoever grows below `bottom` faults in the gap there
};

size_t pageSize();

// A stack that nobody uses, zeroed; none where there is no more memory. Thread-safe. Before Linux
// 6.13 a guarded gap lies between two mappings, and only the first 24,000 or so stacks have one.
Stack takeStack();

// Gives the stack to others, and its memory back.
void giveBackStack(const Stack& stack);

}  // namespace emu
