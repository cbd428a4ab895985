#include "quad_types.h"

#include <regex>
#include <string>
#include <unordered_map>

#include "engine/program_symbols.h"
#include "engine/symbolizer.h"

namespace emu {
namespace {

bool looksForQuad(uintptr_t function, uintptr_t pc) {
    static const std::regex quad(
        R"(\b(float4|u?int4|double2|u?long2|u?longlong2|alignas|__align__|aligned)\b)");
    std::string text = functionName(reinterpret_cast<const void*>(function));
    const SourceLine first = sourceLine(function + 1), last = sourceLine(pc);
    if (first.file == last.file) {
        for (int line = first.line; line <= last.line; ++line) {
            text += "\n" + sourceText(last.file, line);
        }
    }
    return std::regex_search(text, quad);
}

}  // namespace

bool namesQuad(uintptr_t function, uintptr_t pc) {
    thread_local std::unordered_map<uintptr_t, bool> known;
    const auto [place, isNew] = known.try_emplace(pc);
    if (isNew) place->second = looksForQuad(function, pc);
    return place->second;
}

}  // namespace emu
