#pragma once
// The code that a program's file can have, and the rule by which the driver chooses.

#include <cstdlib>
#include <sstream>
#include <string>

// Code for one architecture. A capability is a number such as 90, for 9.0.
struct Code {
    bool machine = false;  // machine code, else PTX
    unsigned capability = 0;
};

// What a file carries: code[0] to code[count - 1], in any order.
constexpr unsigned kMostCode = 16;
struct File {
    unsigned count = 0;
    Code code[kMostCode];
};

// CMake's names for code: "75-virtual,90-real" is PTX for 7.5 and machine code for 9.0.
inline File fileWith(const std::string& architectures) {
    File file;
    std::istringstream words(architectures);
    for (std::string word; file.count < kMostCode && std::getline(words, word, ',');) {
        file.code[file.count++] = {word.find("-real") != std::string::npos,
                                   static_cast<unsigned>(std::atoi(word.c_str()))};
    }
    return file;
}

// "PTX 7.5, sm_90", for a reader.
inline std::string described(const File& file) {
    std::string text;
    for (unsigned i = 0; i < file.count; ++i) {
        const Code& one = file.code[i];
        if (!text.empty()) text += ", ";
        const unsigned major = one.capability / 10, minor = one.capability % 10;
        text += one.machine ? "sm_" + std::to_string(one.capability)
                            : "PTX " + std::to_string(major) + "." + std::to_string(minor);
    }
    return text;
}

// The code of this kind for the newest of the capabilities first, first - 1, ... last; nullptr if
// the file has none.
inline const Code* newestIn(const File& file, bool machine, unsigned first, unsigned last) {
    for (unsigned wanted = first; wanted >= last; --wanted) {
        for (unsigned i = 0; i < file.count; ++i) {
            const Code& one = file.code[i];
            if (one.machine == machine && one.capability == wanted) return &one;
        }
    }
    return nullptr;
}

enum class Driver { kByDefault, kForcedToPtx };  // the second with CUDA_FORCE_PTX_JIT=1

// Reference: what a GPU of this capability uses of a file; nullptr for nothing. (CUDA C++
// Programming Guide, "Binary Compatibility" and "PTX Compatibility". Machine code is not compatible
// between a Jetson and other GPUs, which this function does not know.)
inline const Code* expectedOf(unsigned gpu, const File& file, Driver driver = Driver::kByDefault) {
    if (driver == Driver::kByDefault) {
        const Code* const machine = newestIn(file, true, gpu, gpu / 10 * 10);
        if (machine != nullptr) return machine;
    }
    return newestIn(file, false, gpu, 1);
}
