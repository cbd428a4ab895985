#pragma once
// The command line: long options only, "--name=value" or "--name value"; and -h for --help.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lab {

enum class Rule { kAny, kPowerOfTwo };

// A whole number in decimal, with an optional suffix K, M, G or T (powers of 1024). False if `text`
// is anything else or does not fit 64 bits.
bool parseWhole(const std::string& text, std::uint64_t* value);

// "--name=value", for messages: a value that is very long is shortened.
std::string asGiven(const std::string& name, const std::string& value);

class Options {
  public:
    // A whole number of min ... max. *value holds the default.
    template <typename T>
    void number(const std::string& name, T* value, std::uint64_t min, std::uint64_t max,
                const std::string& help, Rule rule = Rule::kAny) {
        static_assert(std::is_integral_v<T>);
        addNumber(
            name, [=](std::uint64_t number) { *value = static_cast<T>(number); },
            [=] { return static_cast<std::uint64_t>(*value); }, min, max, help, rule);
    }

    // Off unless given.
    void flag(const std::string& name, bool* value, const std::string& help);

    // Any text but the empty one. `placeholder` stands for it in the help, `allowed` in errors.
    void text(const std::string& name, std::string* value, const std::string& placeholder,
              const std::string& allowed, const std::string& help);

    // The name of a file to write. It is not among values(): where a result goes does not change
    // it.
    void file(const std::string& name, std::string* value, const std::string& help);

    // Sets the values; of an option that is given twice, the last one holds. Returns an empty
    // string, or a message that names the option, the value and what is allowed. No abbreviations.
    std::string parse(int argc, char** argv);

    // Was --name on the command line?
    bool given(const std::string& name) const;

    // A paragraph per option, in lines of at most kHelpWidth characters.
    std::string help() const;
    static constexpr std::size_t kHelpWidth = 80;

    // Names of options, and their values.
    using Values = std::vector<std::pair<std::string, std::string>>;

    // "size=1000 block=32": the values of the first `count` options that have one, or what `others`
    // has in their place.
    std::string values(std::size_t count, const Values& others = {}) const;

    // "--size=1T --block=64": the numbers among the first `count` options that were given.
    std::string givenNumbers(std::size_t count) const;

    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::string name, placeholder, help, allowed;
        std::string byDefault;  // as the help shows it
        std::function<bool(const std::string&)> set;
        std::function<std::string()> get;
        std::string typed{};  // its value on the command line
        bool given = false;

        bool isNumber() const { return placeholder == "N"; }
    };

    std::string take(int found, const std::string& word);
    std::string meant(const std::string& word) const;

    void addNumber(const std::string& name, std::function<void(std::uint64_t)> set,
                   std::function<std::uint64_t()> get, std::uint64_t min, std::uint64_t max,
                   const std::string& help, Rule rule);

    std::vector<Entry> entries_;
};

}  // namespace lab
