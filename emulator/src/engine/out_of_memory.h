// What cannot be allocated while a kernel runs ends the process with a clear line: an exception
// must not leave a fiber, and the frames of other CUDA threads cannot be unwound.
#pragma once

namespace emu {

// Ends the process with status 1. `what` could not be allocated. Also on a fiber, and while other
// OS threads run: nothing is destroyed, but what was printed appears.
[[noreturn]] void quitWithoutMemory(const char* what);

// From now on, `new` in a kernel that gets no memory ends the process like that. Elsewhere it does
// what it did before. To be called once.
void installMemoryHandler();

}  // namespace emu
