// What a finding of the hazard check is called, why it is wrong, and what to do about it.
#pragma once

#include <string>

#include "findings.h"

namespace emu {

struct Advice {
    std::string title;  // without the finding's `about`
    std::string why;    // a sentence without its full stop, as is `fix`; both may be empty
    std::string fix;
};

// `sameLine`: all acts of the finding are on one line of the source.
Advice adviceOn(const Finding& finding, bool sameLine);

// What was found may be right: what a program computes does not depend on it, or nobody knows.
bool isNote(const Finding& finding);

}  // namespace emu
