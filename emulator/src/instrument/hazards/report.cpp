#include "report.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "advice.h"
#include "engine/messages.h"
#include "engine/number_text.h"
#include "engine/symbolizer.h"

namespace emu {
namespace {

constexpr size_t kMostCode = 72;  // characters of a line of source in the text

SourceLine lineOf(const Place& place) {
    if (place.pc != 0) return sourceLine(place.pc);
    return place.file != nullptr ? SourceLine{shownPath(place.file), place.line}
                                 : SourceLine{"(an unknown place)", 0};
}

std::string textOf(const SourceLine& line) {
    return line.line > 0 ? line.file + ":" + std::to_string(line.line) : line.file;
}

Advice adviceOn(const Finding& finding) {
    std::set<std::string> lines;
    for (const Act& act : finding.acts) lines.insert(textOf(act.place));
    Advice advice = emu::adviceOn(finding, lines.size() == 1);
    if (!finding.why.empty()) advice.why = finding.why;
    return advice;
}

std::string whoOf(const Act& act) {
    return act.who.empty() ? "thread " + text(act.thread) : act.who;
}

// How often it was found, too.
std::string others(const Finding& finding) {
    const uint64_t more = finding.times - 1;
    if (more == 0) return "";
    switch (finding.hazard) {
        case Hazard::VolatileRace:
        case Hazard::GlobalVolatileRace:
            return ", and " + plural(more, "more time") + ", here or on other lines";
        case Hazard::SumOrder:
            return "";  // is looked for once
        case Hazard::Barrier:
            return ", and in " + plural(more, "more block");
        default:
            return ", and " + plural(more, "more time");
    }
}

// The lines of a message but the first, indented.
std::string indented(std::string text) {
    for (size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
        text.insert(i + 1, "   ");
    }
    return text;
}

std::string shortened(const std::string& code) {
    return code.size() <= kMostCode ? code : code.substr(0, kMostCode - 3) + "...";
}

std::string textOf(const Finding& finding) {
    const Advice advice = adviceOn(finding);
    std::string out = advice.title;
    if (!finding.about.empty()) out += ": " + indented(finding.about);
    out += "\n   ";
    out += finding.kernel.empty() ? "host code"
                                  : "kernel " + finding.kernel + ", block " + text(finding.block);
    if (!finding.where.empty()) out += ", " + finding.where;
    out += others(finding) + "\n";
    for (const Act& act : finding.acts) {
        const SourceLine line = lineOf(act.place);
        const std::string code = sourceText(line.file, line.line);
        out += "     " + textOf(line) + ": " + whoOf(act) + " " + act.what;
        if (!code.empty()) out += " | " + shortened(code);
        out += "\n";
    }
    if (!advice.why.empty()) out += "   why: " + advice.why + "\n";
    if (!advice.fix.empty()) out += "   fix: " + advice.fix + "\n";
    return out;
}

size_t countHazards(const Seen& seen) {
    return static_cast<size_t>(std::count_if(seen.findings.begin(), seen.findings.end(),
                                             [](const Finding* each) { return !isNote(*each); }));
}

// ---- JSON

std::string inQuotes(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += {'\\', c};
        } else if (static_cast<unsigned char>(c) < ' ') {
            out += format("\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string listOf(const std::vector<std::string>& items, const char* separator = ", ") {
    std::string out;
    for (const std::string& item : items) out += (out.empty() ? "" : separator) + item;
    return "[" + out + "]";
}

std::string listOf(const uint3& index) {
    return listOf({std::to_string(index.x), std::to_string(index.y), std::to_string(index.z)});
}

std::string jsonOf(const Act& act) {
    const SourceLine line = lineOf(act.place);
    return "{\"file\": " + inQuotes(line.file) + ", \"line\": " + std::to_string(line.line) +
           ", \"who\": " + inQuotes(whoOf(act)) + ", \"what\": " + inQuotes(act.what) +
           ", \"source\": " + inQuotes(sourceText(line.file, line.line)) + "}";
}

std::string jsonOf(const Finding& finding) {
    const Advice advice = adviceOn(finding);
    std::vector<std::string> acts;
    for (const Act& act : finding.acts) acts.push_back(jsonOf(act));
    std::string out = "{\"title\": " + inQuotes(advice.title) +
                      ", \"about\": " + inQuotes(finding.about) +
                      ", \"hazard\": " + (isNote(finding) ? "false" : "true");
    if (!finding.kernel.empty()) {
        out +=
            ", \"kernel\": " + inQuotes(finding.kernel) + ", \"block\": " + listOf(finding.block);
    }
    return out + ", \"where\": " + inQuotes(finding.where) +
           ", \"times\": " + std::to_string(finding.times) +
           ",\n   \"acts\": " + listOf(acts, ",\n            ") +
           ",\n   \"why\": " + inQuotes(advice.why) + ", \"fix\": " + inQuotes(advice.fix) + "}";
}

}  // namespace

std::string plural(uint64_t count, const std::string& thing) {
    const std::string one = number(count) + " " + thing;
    if (count == 1) return one;
    if (one.back() == 'y') return one.substr(0, one.size() - 1) + "ies";  // copies
    return one + (one.back() == 'h' ? "es" : "s");                        // launches
}

std::string textOf(const Place& place) {
    return textOf(lineOf(place));
}

int lineNumber(const Place& place) {
    return lineOf(place).line;
}

std::string textOf(const Seen& seen) {
    std::string out;
    for (size_t i = 0; i < seen.findings.size(); ++i) {
        out += std::to_string(i + 1) + ". " + textOf(*seen.findings[i]) + "\n";
    }
    for (const std::string& remark : seen.remarks) out += "not judged: " + remark + "\n";
    const size_t hazards = countHazards(seen);
    if (hazards > 0) return out + plural(hazards, "hazard") + " found\n";
    if (seen.launches + seen.copies + seen.fills == 0) {
        return out + "no kernel was launched: nothing was looked at\n";
    }
    return out + "no hazards found (" + plural(seen.launches, "kernel launch") + ", " +
           plural(seen.copies, "copy") + ")\n";
}

std::string jsonOf(const Seen& seen) {
    std::vector<std::string> findings, remarks;
    for (const Finding* finding : seen.findings) findings.push_back(jsonOf(*finding));
    for (const std::string& remark : seen.remarks) remarks.push_back(inQuotes(remark));
    return "{\"hazards\": " + std::to_string(countHazards(seen)) +
           ", \"launches\": " + std::to_string(seen.launches) +
           ", \"copies\": " + std::to_string(seen.copies) +
           ", \"fills\": " + std::to_string(seen.fills) +
           ",\n \"findings\": " + listOf(findings, ",\n  ") +
           ",\n \"not judged\": " + listOf(remarks) + "}\n";
}

}  // namespace emu
