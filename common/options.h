#pragma once
// The command line: long options only, "--name=value" or "--name value".

#include <getopt.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "format.h"

namespace lab {

enum class Rule { kAny, kPowerOfTwo };

// A whole number in decimal, with an optional suffix K, M or G (powers of 1024). False if `text` is
// anything else or does not fit 64 bits.
inline bool parseWhole(const std::string& text, std::uint64_t* value) {
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

class Options {
  public:
    // A whole number of min ... max. *value holds the default.
    template <typename T>
    void number(const std::string& name, T* value, std::uint64_t min, std::uint64_t max,
                const std::string& help, Rule rule = Rule::kAny) {
        static_assert(std::is_integral_v<T>);
        const std::string allowed =
            (rule == Rule::kPowerOfTwo ? "a power of two" : "a whole number") +
            formatted(" from %llu to %llu", static_cast<unsigned long long>(min),
                      static_cast<unsigned long long>(max));
        const auto set = [=](const std::string& text) {
            std::uint64_t number = 0;
            if (!parseWhole(text, &number) || number < min || number > max) return false;
            if (rule == Rule::kPowerOfTwo && (number & (number - 1)) != 0) return false;
            *value = static_cast<T>(number);
            return true;
        };
        add({name, "N", help, allowed, set, [=] { return std::to_string(*value); }});
    }

    // Off unless given.
    void flag(const std::string& name, bool* value, const std::string& help) {
        const auto set = [=](const std::string&) { return *value = true; };
        add({name, "", help, "", set, {}});
    }

    // Any text but the empty one. `placeholder` stands for it in the help, `allowed` in errors.
    void text(const std::string& name, std::string* value, const std::string& placeholder,
              const std::string& allowed, const std::string& help) {
        add({name, placeholder, help, allowed, setText(value), [=] { return *value; }});
    }

    // The name of a file to write. It is not among values(): where a result goes does not change
    // it.
    void file(const std::string& name, std::string* value, const std::string& help) {
        add({name, "FILE", help, "a file name", setText(value), {}});
    }

    // Sets the values. Returns an empty string, or one line that names the option, the value and
    // what is allowed.
    std::string parse(int argc, char** argv) {
        std::vector<option> table;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const int kind = entries_[i].placeholder.empty() ? no_argument : required_argument;
            table.push_back(
                {entries_[i].name.c_str(), kind, nullptr, kFirst + static_cast<int>(i)});
        }
        table.push_back({});
        given_.clear();
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
            const Entry& entry = entries_[known - kFirst];
            if (found == '?') return std::string(argv[optind - 1]) + ": takes no value";
            if (found == ':') return "--" + entry.name + ": expected " + entry.allowed;
            const std::string value = optarg == nullptr ? "" : optarg;
            if (!entry.set(value)) {
                return "--" + entry.name + "=" + value + ": expected " + entry.allowed;
            }
            given_.insert(entry.name);
        }
        if (optind < argc) return std::string(argv[optind]) + ": options only, no such argument";
        return "";
    }

    // Was --name on the command line?
    bool given(const std::string& name) const { return given_.count(name) > 0; }

    // One line per option.
    std::string help() const {
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

    using Values = std::map<std::string, std::string>;

    // "size=1000 block=32": the values of the first `count` options that have one, or what `others`
    // has in their place.
    std::string values(std::size_t count, const Values& others = {}) const {
        std::string text;
        for (std::size_t i = 0; i < count && i < entries_.size(); ++i) {
            std::string value = entries_[i].get ? entries_[i].get() : "";
            const auto other = others.find(entries_[i].name);
            if (other != others.end()) value = other->second;
            if (value.empty()) continue;
            text += (text.empty() ? "" : " ") + entries_[i].name + "=" + value;
        }
        return text;
    }

    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::string name, placeholder, help, allowed;
        std::function<bool(const std::string&)> set;
        std::function<std::string()> get;
    };
    static constexpr int kFirst =
        256;  // above every character, which getopt uses for short options

    static std::function<bool(const std::string&)> setText(std::string* value) {
        return [=](const std::string& text) {
            if (text.empty()) return false;
            *value = text;
            return true;
        };
    }

    void add(Entry entry) { entries_.push_back(std::move(entry)); }

    std::vector<Entry> entries_;
    std::set<std::string> given_;
};

}  // namespace lab
