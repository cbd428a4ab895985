// Fresh device memory that a program copies to the host, as if something had written it.
#pragma once

#include "copy.h"

namespace emu {

// `box` has been copied from `source` to the host. If words of 4 bytes there still hold the pattern
// of fresh memory, a line on stderr says so when the program ends: of the first such copy, and of
// how many more allocations there were some. Looks at what earlier copies have not shown to be
// written, and no further than the pattern goes.
void noteFreshCopied(const Layout& source, const Box& box);

}  // namespace emu
