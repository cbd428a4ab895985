// Where an address of the running program comes from in its source.
#pragma once

#include <cstdint>
#include <string>

namespace emu {

struct SourceLine {
    std::string file;  // without debug information or addr2line: the function's name and an offset
    int line;          // 0 then
};

// The source line of the instruction before `pc`, a return address. Relative to the current folder
// where that is shorter. Thread-safe; remembers its answers.
SourceLine sourceLine(uintptr_t pc);

// The innermost line of the user's at `pc`, which may be in a function of the emulator's that the
// compiler put there in line; line 0 if there is none. `pc` as above.
SourceLine userLine(uintptr_t pc);

// The line is in a file of the user's: neither in the emulator's headers nor in the compiler's. For
// hot paths: takes no lock once the answer is known.
bool isUserCode(uintptr_t pc);

// The innermost place in the user's own code that the calling thread of the host is at, as a return
// address; `pc` if that is in the user's code, or where there is none with a line.
uintptr_t hostPlace(uintptr_t pc = 0);

// `file` relative to the current folder where that is shorter.
std::string shownPath(const std::string& file);

// The text of a line without its indentation; empty if it cannot be read.
std::string sourceText(const std::string& file, int line);

}  // namespace emu
