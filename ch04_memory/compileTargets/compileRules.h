#pragma once
// The code that a file can have, and the rule by which a device chooses.

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

// Code for one architecture. A capability is a number such as 90, for 9.0.
struct Code {
    bool machine;  // machine code, else PTX
    unsigned capability;
};

// What CMake calls these: "75-virtual,90-real" is PTX for 7.5 and machine code for 9.0.
inline std::vector<Code> codeIn(const std::string& architectures) {
    std::vector<Code> code;
    std::istringstream words(architectures);
    for (std::string word; std::getline(words, word, ',');) {
        code.push_back({word.find("-real") != std::string::npos,
                        static_cast<unsigned>(std::atoi(word.c_str()))});
    }
    return code;
}

// "PTX 7.5, sm_90", for a reader.
inline std::string described(const std::vector<Code>& code) {
    std::string text;
    for (const Code& one : code) {
        if (!text.empty()) text += ", ";
        const unsigned major = one.capability / 10, minor = one.capability % 10;
        text += one.machine ? "sm_" + std::to_string(one.capability)
                            : "PTX " + std::to_string(major) + "." + std::to_string(minor);
    }
    return text;
}

// Of this code, what a device of this capability runs; nullptr: nothing. Machine code runs within
// its generation, on the same minor number or a higher one; where there is none, the driver
// compiles the newest PTX that is not newer than the device. (CUDA C++ Programming Guide, "Binary
// Compatibility" and "PTX Compatibility".)
inline const Code* chosenBy(unsigned device, const std::vector<Code>& code) {
    const Code* chosen = nullptr;
    for (const Code& one : code) {
        const bool runs =
            one.capability <= device && (!one.machine || one.capability / 10 == device / 10);
        if (!runs) continue;
        const bool better = chosen == nullptr || (one.machine && !chosen->machine) ||
                            (one.machine == chosen->machine && one.capability > chosen->capability);
        if (better) chosen = &one;
    }
    return chosen;
}
