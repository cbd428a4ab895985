#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "format.h"

namespace lab {
namespace {

constexpr int kFirst = 256;  // above every character, which getopt uses for short options

// "--size=5" -> "size"; "-h" -> "help"; "" for other words.
std::string nameIn(const std::string& word) {
    if (word == "-h") return "help";
    return word.rfind("--", 0) == 0 ? word.substr(2, word.find('=') - 2) : "";
}

std::function<bool(const std::string&)> setText(std::string* value) {
    return [=](const std::string& text) {
        if (text.empty()) return false;
        *value = text;
        return true;
    };
}

// What stays in one line, where wrapped() breaks a text.
std::string together(std::string text) {
    std::replace(text.begin(), text.end(), ' ', '\x1f');
    return text;
}

// Letters to insert, to leave out, to replace or to swap with the next one ("optimal string
// alignment").
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> from(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                from[i][j] = i + j;
                continue;
            }
            const std::size_t replaced = from[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
            from[i][j] = std::min({replaced, from[i - 1][j] + 1, from[i][j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                from[i][j] = std::min(from[i][j], from[i - 2][j - 2] + 1);
        }
    }
    return from[a.size()][b.size()];
}

// Those of `names` that begin with `typed`, or else the nearest ones, if a third of the letters or
// less would have to change; a pair that is swapped counts as one.
std::vector<std::string> nearestNames(const std::string& typed,
                                      const std::vector<std::string>& names) {
    std::vector<std::string> found;
    if (typed.empty() || typed.size() > 64) return found;
    std::copy_if(names.begin(), names.end(), std::back_inserter(found),
                 [&](const std::string& name) { return name.rfind(typed, 0) == 0; });
    if (!found.empty()) return found;
    std::size_t least = std::max<std::size_t>(1, typed.size() / 3);
    for (const std::string& name : names) {
        const std::size_t changes = distance(typed, name);
        if (changes >= std::max(name.size(), typed.size())) continue;  // no letter is the same
        if (changes < least) found.clear();
        if (changes <= least) found.push_back(name);
        least = std::min(least, changes);
    }
    return found;
}

}  // namespace

bool parseWhole(const std::string& text, std::uint64_t* value) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || text.size() > digits + 1) return false;
    int shift = 0;
    if (digits < text.size()) {
        const std::size_t power = std::string("KkMmGgTt").find(text[digits]);
        if (power == std::string::npos) return false;
        shift = 10 * (static_cast<int>(power) / 2 + 1);
    }
    errno = 0;
    const std::uint64_t number = std::strtoull(text.c_str(), nullptr, 10);
    if (errno == ERANGE || number > UINT64_MAX >> shift) return false;
    *value = number << shift;
    return true;
}

std::string asGiven(const std::string& name, const std::string& value) {
    return "--" + name + "=" + shortened(value);
}

void Options::addNumber(const std::string& name, std::function<void(std::uint64_t)> set,
                        std::function<std::uint64_t()> get, std::uint64_t min, std::uint64_t max,
                        const std::string& help, Rule rule) {
    const bool power = rule == Rule::kPowerOfTwo;
    const std::string range = withSuffix(min) + " to " + withSuffix(max);
    const std::string allowed = (power ? "a power of two from " : "a whole number from ") + range;
    const std::string shown = help + ": " + (power ? "a power of two, " : "") + together(range);
    const auto setParsed = [=](const std::string& text) {
        std::uint64_t number = 0;
        if (!parseWhole(text, &number) || number < min || number > max) return false;
        if (rule == Rule::kPowerOfTwo && (number & (number - 1)) != 0) return false;
        set(number);
        return true;
    };
    entries_.push_back({name, "N", shown, allowed, withSuffix(get()), setParsed,
                        [=] { return std::to_string(get()); }});
}

void Options::flag(const std::string& name, bool* value, const std::string& help) {
    const auto set = [=](const std::string&) { return *value = true; };
    entries_.push_back({name, "", help, "", "", set, {}});
}

void Options::text(const std::string& name, std::string* value, const std::string& placeholder,
                   const std::string& allowed, const std::string& help) {
    entries_.push_back(
        {name, placeholder, help, allowed, *value, setText(value), [=] { return *value; }});
}

void Options::file(const std::string& name, std::string* value, const std::string& help) {
    entries_.push_back({name, "FILE", help, "a file name", "", setText(value), {}});
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
        const int at = std::max(optind, 1);
        const std::string word = at < argc ? argv[at] : "";
        const int found = getopt_long(argc, argv, "+:h", table.data(), nullptr);
        if (found == -1) break;
        const std::string problem = take(found, word);
        if (!problem.empty()) return problem;
    }
    if (optind >= argc) return "";
    const std::string stray = argv[optind];
    if (std::string(argv[optind - 1]) == "--" && optind > 1)
        return shortened(stray) + ": nothing is an option behind --";
    return (stray.empty() ? "\"\"" : shortened(stray)) + ": expected options, which begin with --" +
           meant(stray);
}

// What getopt_long() has `found` at a word. It takes abbreviations, too: find() does not.
std::string Options::take(int found, const std::string& word) {
    const std::string name = nameIn(word);
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.name == name; });
    if (entry == entries_.end()) return shortened(word) + ": no such option" + meant(word);
    if (found == '?') return shortened(word) + ": takes no value";
    if (found == ':') return "--" + name + ": expected " + entry->allowed;
    entry->typed = optarg == nullptr ? "" : optarg;
    if (!entry->set(entry->typed))
        return asGiven(name, entry->typed) + ": expected " + entry->allowed;
    entry->given = true;
    return "";
}

// "; did you mean --size?", if that is likely.
std::string Options::meant(const std::string& word) const {
    const std::size_t begin = std::min(word.find_first_not_of('-'), word.size());
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.name);
    std::string text;
    for (const std::string& name : nearestNames(word.substr(begin, word.find('=') - begin), names))
        text += (text.empty() ? "; did you mean --" : " or --") + name;
    return text.empty() ? "" : text + "?";
}

bool Options::given(const std::string& name) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.given && entry.name == name; });
}

std::string Options::help() const {
    constexpr std::size_t kIndent = 21;
    std::string text;
    for (const Entry& entry : entries_) {
        std::string left = "--" + entry.name + (entry.placeholder.empty() ? "" : "=") +
                           entry.placeholder + (entry.name == "help" ? ", -h" : "");
        left.resize(std::max(left.size(), kIndent - 3), ' ');
        text += "  " + left + " " +
                wrapped(entry.help + (entry.byDefault.empty()
                                          ? ""
                                          : " " + together("(default " + entry.byDefault + ")")),
                        kHelpWidth, kIndent) +
                "\n";
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

std::string Options::givenNumbers(std::size_t count) const {
    std::string text;
    for (std::size_t i = 0; i < count && i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        if (!entry.given || !entry.isNumber()) continue;
        text += (text.empty() ? "" : " ") + asGiven(entry.name, entry.typed);
    }
    return text;
}

}  // namespace lab
