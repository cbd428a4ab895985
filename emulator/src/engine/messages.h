// Words for what CUDA threads do, and the longer of the engine's messages.
#pragma once

#include <string>
#include <vector>

#include "call_site.h"
#include "emu/vector_types.h"
#include "fiber.h"
#include "warps.h"

namespace emu {

// As printf(); cut after 511 characters.
std::string format(const char* pattern, ...);

std::string text(const uint3& index);    // "(0,0,0)"
std::string text(const CallSite& site);  // "__syncthreads() at kernel.cu:12"

// Where a mask names lanes that do not come.
extern const char* const kMaskAdvice;

// Nothing in a block can run: says for each place in the source who waits there. `ended`: how many
// threads of the block have ended.
std::string deadlockMessage(std::vector<const Fiber*> waiting, const Warps& warps, unsigned ended);

// Notes on stderr, once for each barrier in the source, that threads ended without reaching it.
void noteEndedThreads(const char* kernel, unsigned ended, const CallSite& site);

}  // namespace emu
