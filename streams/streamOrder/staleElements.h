#pragma once
// What a stream has read of an array that another one writes: streamOrder.

#include <cstddef>
#include <string>
#include <vector>

#include "verify.h"

struct WasRead {
    std::size_t stale = 0;  // elements from before they were written
    std::string wrong;
};

// Before it was written, the array was 0 everywhere. An old element is wrong only if the reader has
// waited; what is neither old nor new is always wrong.
inline WasRead whatWasRead(const std::vector<int>& read, const std::vector<int>& written,
                           bool waited) {
    WasRead result;
    for (std::size_t i = 0; i < written.size(); ++i) {
        const bool old = read[i] == 0;
        result.stale += old;
        if (result.wrong.empty() && read[i] != written[i] && (waited || !old))
            result.wrong = lab::describeMismatch(i, read[i], written[i]);
    }
    return result;
}
