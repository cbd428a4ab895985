#include "alias_check.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "engine/symbolizer.h"

namespace emu {
namespace {

bool isOfName(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where the name stands in the text from `from` on, as a whole word; npos if nowhere.
size_t findWord(const std::string& text, const std::string& name, size_t from) {
    for (size_t at = text.find(name, from); at != std::string::npos; at = text.find(name, at + 1)) {
        const bool begins = at == 0 || !isOfName(text[at - 1]);
        const size_t end = at + name.size();
        if (begins && (end == text.size() || !isOfName(text[end]))) return at;
    }
    return std::string::npos;
}

// Whether `[...]`, and perhaps `.member`, stands at `at`, and then an assignment.
bool isAssigned(const std::string& text, size_t at) {
    int open = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '[') ++open;
        if (c == ']') --open;
        const bool between = c == ']' || c == '.' || c == ' ' || isOfName(c);
        if (open == 0 && !between) break;
    }
    if (at + 1 >= text.size()) return false;
    if (text[at] == '=') return text[at + 1] != '=';
    return std::string("+-*/%&|^").find(text[at]) != std::string::npos && text[at + 1] == '=';
}

}  // namespace

const AliasCheck::Line& AliasCheck::lineOf(uintptr_t pc) {
    const auto [known, isNew] = lines_.try_emplace(pc);
    Line& line = known->second;
    if (!isNew) return line;
    const SourceLine place = sourceLine(pc);
    const std::string text = sourceText(place.file, place.line);
    size_t assigned = 0;
    for (const DynamicArray& array : dynamicArrays()) {
        size_t at = findWord(text, array.name, 0);
        if (at == std::string::npos) continue;
        line.names.push_back(&array);
        bool isTarget = false;
        for (; at != std::string::npos; at = findWord(text, array.name, at + 1)) {
            isTarget = isTarget || isAssigned(text, at + array.name.size());
        }
        if (!isTarget) continue;
        line.assigned = &array;
        ++assigned;
    }
    if (assigned != 1) line.assigned = nullptr;
    return line;
}

std::optional<LostValue> AliasCheck::access(size_t offset, const Access& access, uintptr_t pc,
                                            unsigned rank) {
    if (dynamicArrays().size() < 2) return {};
    Word& word = words_[offset];
    const Line& line = lineOf(pc);
    if (access.kind != AccessKind::Store) {
        word.isRead = true;
        if (!word.lost) return {};
        const auto& names = line.names;
        const bool misses = std::find(names.begin(), names.end(), word.lost->first) != names.end();
        return misses ? std::exchange(word.lost, std::nullopt) : std::nullopt;
    }
    const bool overwrites = word.writer != nullptr && line.assigned != nullptr &&
                            word.writer != line.assigned && !word.isRead &&
                            word.size == access.size;
    if (overwrites) {
        word.lost = LostValue{word.writer, line.assigned, pc, rank};
    } else if (!word.lost || line.assigned != word.lost->second) {
        word.lost.reset();
    }
    word.writer = line.assigned;
    word.size = access.size;
    word.isRead = false;
    return {};
}

}  // namespace emu
