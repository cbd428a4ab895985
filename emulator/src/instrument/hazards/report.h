// The report of the hazard check, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "findings.h"

namespace emu {

// What a report is made of.
struct Seen {
    std::vector<const Finding*> findings;  // in the order in which they are shown
    std::vector<std::string> remarks;      // what the program uses and the check does not judge
    uint64_t launches = 0, copies = 0, fills = 0;
};

std::string textOf(const Seen& seen);
std::string jsonOf(const Seen& seen);

// "mine.cu:12"
std::string textOf(const Place& place);
int lineNumber(const Place& place);

// "1 launch", "2 launches"
std::string plural(uint64_t count, const std::string& thing);

}  // namespace emu
