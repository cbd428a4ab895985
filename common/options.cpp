#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "format.h"

namespace lab {
namespace {

constexpr int kFirst = 256;  // above every character, which getopt uses for short options

std::function<bool(const std::string&)> setText(std::string* value) {
    return [=](const std::string& text) {
        if (text.empty()) return false;
        *value = text;
        return true;
    };
}

}  // namespace

bool parseWhole(const std::string& text, std::uint64_t* value) {
    if (text.empty() || text[0] < '0' || text[0] > '9')
        return false;  // strtoull takes " 1" and "-1"
    char* end = nullptr;
    errno = 0;
    std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
    if (errno == ERANGE) return false;
    int shift = 0;
    switch (*end) {
        case 'K':
        case 'k':
            shift = 10;
            break;
        case 'M':
        case 'm':
            shift = 20;
            break;
        case 'G':
        case 'g':
            shift = 30;
            break;
        default:
            break;
    }
    if (shift != 0) ++end;
    if (end != text.c_str() + text.size()) return false;
    if (number > (std::numeric_limits<std::uint64_t>::max() >> shift)) return false;
    *value = number << shift;
    return true;
}

void Options::addNumber(const std::string& name, std::function<void(std::uint64_t)> set,
                        std::function<std::uint64_t()> get, std::uint64_t min, std::uint64_t max,
                        const std::string& help, Rule rule) {
    const std::string allowed =
        (rule == Rule::kPowerOfTwo ? "a power of two" : "a whole number") +
        formatted(" from %llu to %llu", static_cast<unsigned long long>(min),
                  static_cast<unsigned long long>(max));
    const auto setParsed = [=](const std::string& text) {
        std::uint64_t number = 0;
        if (!parseWhole(text, &number) || number < min || number > max) return false;
        if (rule == Rule::kPowerOfTwo && (number & (number - 1)) != 0) return false;
        set(number);
        return true;
    };
    entries_.push_back(
        {name, "N", help, allowed, setParsed, [=] { return std::to_string(get()); }});
}

void Options::flag(const std::string& name, bool* value, const std::string& help) {
    const auto set = [=](const std::string&) { return *value = true; };
    entries_.push_back({name, "", help, "", set, {}});
}

void Options::text(const std::string& name, std::string* value, const std::string& placeholder,
                   const std::string& allowed, const std::string& help) {
    entries_.push_back({name, placeholder, help, allowed, setText(value), [=] { return *value; }});
}

void Options::file(const std::string& name, std::string* value, const std::string& help) {
    entries_.push_back({name, "FILE", help, "a file name", setText(value), {}});
}

std::string Options::parse(int argc, char** argv) {
    std::vector<option> table;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const int kind = entries_[i].placeholder.empty() ? no_argument : required_argument;
        table.push_back({entries_[i].name.c_str(), kind, nullptr, kFirst + static_cast<int>(i)});
    }
    table.push_back({});
    for (Entry& entry : entries_) entry.given = false;
    opterr = 0;  // the messages are ours
    optind = 0;  // start afresh, so that a program (a test) may parse twice
    for (;;) {
        const int found = getopt_long(argc, argv, ":", table.data(), nullptr);
        if (found == -1) break;
        const int known = found == ':' || found == '?' ? optopt : found;
        if (known < kFirst) {
            const bool cluster = known != 0;  // "-x": getopt names the letter
            return (cluster ? formatted("-%c", known) : std::string(argv[optind - 1])) +
                   ": no such option";
        }
        Entry& entry = entries_[known - kFirst];
        if (found == '?') return std::string(argv[optind - 1]) + ": takes no value";
        if (found == ':') return "--" + entry.name + ": expected " + entry.allowed;
        const std::string value = optarg == nullptr ? "" : optarg;
        if (!entry.set(value)) {
            return "--" + entry.name + "=" + value + ": expected " + entry.allowed;
        }
        entry.given = true;
    }
    if (optind < argc) return std::string(argv[optind]) + ": options only, no such argument";
    return "";
}

bool Options::given(const std::string& name) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.given && entry.name == name; });
}

std::string Options::help() const {
    std::string text;
    for (const Entry& entry : entries_) {
        const std::string left =
            "--" + entry.name + (entry.placeholder.empty() ? "" : "=" + entry.placeholder);
        text += formatted("  %-18s %s", left.c_str(), entry.help.c_str());
        const std::string value = entry.get ? entry.get() : "";
        if (entry.placeholder == "N") text += ": " + entry.allowed;
        if (!value.empty()) text += " (default " + value + ")";
        text += "\n";
    }
    return text;
}

std::string Options::values(std::size_t count, const Values& others) const {
    std::string text;
    for (std::size_t i = 0; i < count && i < entries_.size(); ++i) {
        std::string value = entries_[i].get ? entries_[i].get() : "";
        for (const auto& [name, other] : others) {
            if (name == entries_[i].name) value = other;
        }
        if (value.empty()) continue;
        text += (text.empty() ? "" : " ") + entries_[i].name + "=" + value;
    }
    return text;
}

}  // namespace lab
