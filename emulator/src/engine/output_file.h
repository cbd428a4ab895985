// The files that a program writes at its end, where the environment asks for them.
#pragma once

#include <string>

namespace emu {

// The file that this variable of the environment names; nullptr if it is not set, or empty. Who is
// going to write it asks before registering that with atexit() or making the object that will.
const char* outputPath(const char* variable);

// A cell of CSV. What would end a line, or no XML may contain, is a space in it.
std::string quoted(const std::string& text);

// Writes `text`, `what` it is, to the file that `variable` names. If that fails it says why on
// stderr, and a program that would end with status 0 ends with 1. All or nothing: who finds the
// file finds the whole of it. (What is there and no regular file, such as a pipe or /dev/null, is
// not replaced by one.)
void writeOutput(const std::string& path, const std::string& text, const char* what,
                 const char* variable);

}  // namespace emu
