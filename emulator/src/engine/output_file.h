// The files that a program writes at its end, where the environment asks for them.
#pragma once

#include <string>

namespace emu {

// The file that this variable of the environment names; nullptr if it is not set, or empty.
const char* outputPath(const char* variable);

// A cell of CSV. What would end a line, or no XML may contain, is a space in it.
std::string quoted(const std::string& text);

// Writes `text`, `what` it is, to the file that `variable` names, and says why on stderr if that
// fails. All or nothing: who finds the file finds the whole of it. (What is there and no regular
// file, such as a pipe or /dev/null, is not replaced by one.)
void writeOutput(const std::string& path, const std::string& text, const char* what,
                 const char* variable);

}  // namespace emu
