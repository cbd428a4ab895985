#include "program_symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "emu/limits.h"

// From the linker: where the program's code ends, and the program.
extern "C" const char etext[], _end[];

namespace emu {
namespace {

// A file, mapped for reading.
class MappedFile {
  public:
    explicit MappedFile(const char* path) {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        struct stat status = {};
        if (fstat(file, &status) == 0 && status.st_size > 0) {
            const auto size = static_cast<size_t>(status.st_size);
            void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
            if (memory != MAP_FAILED) {
                data_ = static_cast<const char*>(memory);
                size_ = size;
            }
        }
        close(file);
    }
    ~MappedFile() {
        if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    // `count` objects of type T at byte `offset`, or nullptr if the file is shorter.
    template <typename T>
    const T* at(size_t offset, size_t count = 1) const {
        if (offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
        return reinterpret_cast<const T*>(data_ + offset);
    }

  private:
    const char* data_ = nullptr;
    size_t size_ = 0;
};

// "(anonymous namespace)::copy" of "(anonymous namespace)::copy(float*, void (*)(int))".
std::string withoutParameters(const std::string& function) {
    size_t begin = function.rfind(')');
    if (begin == std::string::npos) return function;
    for (int open = 1; open > 0 && begin > 0;) {
        --begin;
        open += function[begin] == ')' ? 1 : function[begin] == '(' ? -1 : 0;
    }
    return function.substr(0, begin);
}

// "n::fill" of "n::fill<int>".
std::string withoutTemplateArguments(const std::string& name) {
    if (name.empty() || name.back() != '>') return name;
    size_t begin = name.size() - 1;
    for (int open = 1; open > 0 && begin > 0;) {
        --begin;
        open += name[begin] == '>' ? 1 : name[begin] == '<' ? -1 : 0;
    }
    return name.substr(0, begin);
}

class SymbolTable {
  public:
    SymbolTable() {
        const MappedFile file("/proc/self/exe");
        const auto* header = file.at<ElfW(Ehdr)>(0);
        if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
        const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
        if (sections == nullptr) return;
        for (size_t i = 0; i < header->e_shnum; ++i) {
            const ElfW(Shdr)& section = sections[i];
            if (section.sh_type != SHT_SYMTAB || section.sh_link >= header->e_shnum) continue;
            read(file, section, sections[section.sh_link]);
        }
    }

    std::vector<ThreadLocal> sharedVariablesOf(const void* kernel) const {
        const auto name = functions_.find(reinterpret_cast<uintptr_t>(kernel));
        if (name == functions_.end()) return {};
        const std::string prefix = prefixOf(name->second);
        std::vector<ThreadLocal> found;
        for (auto variable = threadLocals_.lower_bound(prefix);
             variable != threadLocals_.end() && variable->first.rfind(prefix, 0) == 0; ++variable) {
            found.push_back(variable->second);
        }
        return found;
    }

    int launchBoundsOf(const void* kernel) const {
        const auto function = functions_.find(reinterpret_cast<uintptr_t>(kernel));
        return function == functions_.end() ? kMaxThreadsPerBlock : boundsOf(*function);
    }

    // Those of all functions, or instances of a template, with the name.
    int launchBoundsOf(const std::string& name) const {
        const std::string inner = name.substr(name.rfind(':') + 1);
        std::set<int> found;
        for (const auto& function : functions_) {
            if (function.second.find(inner) == std::string::npos) continue;
            if (isCalled(demangled(function.second), name)) found.insert(boundsOf(function));
        }
        return found.size() == 1 ? *found.begin() : kMaxThreadsPerBlock;
    }

    bool isVariableOf(const ThreadLocal& variable, uintptr_t function) const {
        const auto name = functions_.find(function);
        return name != functions_.end() && variable.name.rfind(prefixOf(name->second), 0) == 0;
    }

    std::string functionName(const void* function) const {
        const auto name = functions_.find(reinterpret_cast<uintptr_t>(function));
        return name == functions_.end() ? "" : demangled(name->second);
    }

    std::optional<ThreadLocal> threadLocalAt(size_t offset) const {
        auto next = threadLocalsByOffset_.upper_bound(offset);
        if (next == threadLocalsByOffset_.begin()) return std::nullopt;
        const ThreadLocal& variable = std::prev(next)->second;
        return offset - variable.begin < variable.size ? std::make_optional(variable)
                                                       : std::nullopt;
    }

    uintptr_t functionAround(uintptr_t address) const {
        auto next = functions_.upper_bound(address);
        return next == functions_.begin() ? 0 : std::prev(next)->first;
    }

    std::string symbolAt(const void* address) const {
        const auto wanted = reinterpret_cast<uintptr_t>(address);
        auto next = functions_.upper_bound(wanted);
        if (next == functions_.begin()) return "?";
        const auto& [base, name] = *std::prev(next);
        char offset[32];
        std::snprintf(offset, sizeof(offset), "+%#zx", size_t{wanted - base});
        return demangled(name) + offset;
    }

    std::optional<Variable> variableAt(const void* address) const {
        const auto found = findVariable(address);
        if (found == variables_.end()) return std::nullopt;
        return Variable{reinterpret_cast<const void*>(found->first), found->second.size};
    }

    std::string variableSymbol(const void* address) const {
        const auto found = findVariable(address);
        return found == variables_.end() ? "" : found->second.name;
    }

  private:
    struct Object {
        size_t size;  // bytes
        std::string name;
    };

    std::map<uintptr_t, Object>::const_iterator findVariable(const void* address) const {
        const auto wanted = reinterpret_cast<uintptr_t>(address);
        const auto next = variables_.upper_bound(wanted);
        if (next == variables_.begin()) return variables_.end();
        const auto found = std::prev(next);
        return wanted - found->first < found->second.size ? found : variables_.end();
    }

    // A variable `tile` of function _Z4copyPf is mangled as _ZZ4copyPfE4tile.
    static std::string prefixOf(const std::string& function) {
        return "_ZZ" + function.substr(2) + "E";
    }

    void read(const MappedFile& file, const ElfW(Shdr) & symbols, const ElfW(Shdr) & strings) {
        const size_t count = symbols.sh_size / sizeof(ElfW(Sym));
        const auto* entries = file.at<ElfW(Sym)>(symbols.sh_offset, count);
        const auto* names = file.at<char>(strings.sh_offset, strings.sh_size);
        if (entries == nullptr || names == nullptr || strings.sh_size == 0 ||
            names[strings.sh_size - 1] != '\0') {
            return;
        }
        const uintptr_t bias = loadBias();
        size_t unit = 0;  // what is local in one is another thing in the next
        for (size_t i = 0; i < count; ++i) {
            const ElfW(Sym)& symbol = entries[i];
            if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.sh_size) continue;
            const char* name = names + symbol.st_name;
            const bool isLocal = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
            switch (ELF64_ST_TYPE(symbol.st_info)) {
                case STT_FUNC:
                    if (std::strncmp(name, "_Z", 2) == 0) {
                        functions_.emplace(bias + symbol.st_value, name);
                        if (isLocal) files_.emplace(bias + symbol.st_value, unit);
                    }
                    break;
                case STT_FILE:
                    ++unit;
                    break;
                case STT_OBJECT:
                    readLaunchBounds(name, unit, bias + symbol.st_value);
                    if (symbol.st_size > 0) {
                        variables_.emplace(bias + symbol.st_value, Object{symbol.st_size, name});
                    }
                    break;
                case STT_TLS:
                    if (symbol.st_size == 0) break;  // AArch64's $d, a mark of data
                    threadLocalsByOffset_.emplace(
                        symbol.st_value, ThreadLocal{name, symbol.st_value, symbol.st_size});
                    if (std::strncmp(name, "_ZZ", 3) == 0) {
                        threadLocals_.emplace(name,
                                              ThreadLocal{name, symbol.st_value, symbol.st_size});
                    }
                    break;
                default:
                    break;
            }
        }
    }

    // The variable emuLaunchBounds of kernel _Z4copyPf is mangled as _ZZ4copyPfE15emuLaunchBounds.
    void readLaunchBounds(const std::string& name, size_t file, uintptr_t address) {
        static const std::string prefix = "_ZZ", suffix = "E15emuLaunchBounds";
        if (name.size() <= prefix.size() + suffix.size()) return;
        const size_t end = name.size() - suffix.size();
        if (name.compare(0, prefix.size(), prefix) != 0) return;
        if (name.compare(end, suffix.size(), suffix) != 0) return;
        bounds_["_Z" + name.substr(prefix.size(), end - prefix.size())][file] =
            *reinterpret_cast<const int*>(address);
    }

    // Of an entry of functions_. The variable is local to its file; so may be the function, and
    // then another file may have one of the same name.
    int boundsOf(const std::pair<const uintptr_t, std::string>& function) const {
        const auto byFile = bounds_.find(function.second);
        if (byFile == bounds_.end()) return kMaxThreadsPerBlock;
        // A function that all files see has its variable in one of them.
        const auto file = files_.find(function.first);
        const auto bounds =
            file == files_.end() ? byFile->second.begin() : byFile->second.find(file->second);
        return bounds == byFile->second.end() ? kMaxThreadsPerBlock : bounds->second;
    }

    std::map<uintptr_t, std::string> functions_;           // mangled names by address
    std::map<uintptr_t, size_t> files_;                    // of functions that others do not see
    std::map<std::string, std::map<size_t, int>> bounds_;  // by mangled name of kernels, and file
    std::map<uintptr_t, Object> variables_;                // by address
    std::map<std::string, ThreadLocal> threadLocals_;      // by name, of variables in functions
    std::map<size_t, ThreadLocal> threadLocalsByOffset_;
};

const SymbolTable& symbolTable() {
    static const SymbolTable& table = *new SymbolTable;
    return table;
}

struct ImageQuery {
    uintptr_t address;
    ImagePart part;
};

// On some processors linkers put a program's constants behind its code, in one segment.
bool liesBehindCode(uintptr_t address) {
    const auto code = reinterpret_cast<uintptr_t>(etext), end = reinterpret_cast<uintptr_t>(_end);
    return address >= code && address < end;
}

int findPart(dl_phdr_info* info, size_t, void* context) {
    auto& query = *static_cast<ImageQuery*>(context);
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type != PT_LOAD || query.address - begin >= segment.p_memsz) continue;
        const bool code = (segment.p_flags & PF_X) != 0 && !liesBehindCode(query.address);
        query.part = code                            ? ImagePart::Code
                     : (segment.p_flags & PF_W) != 0 ? ImagePart::Writable
                                                     : ImagePart::Constant;
        return 1;
    }
    return 0;
}

}  // namespace

size_t staticSharedOf(const void* kernel) {
    size_t bytes = 0;
    for (const ThreadLocal& variable : sharedVariablesOf(kernel)) bytes += variable.size;
    return bytes;
}

std::string functionName(const void* function) {
    return symbolTable().functionName(function);
}

std::string kernelName(const char* launched, const void* kernel) {
    if (launched[0] != '(') return launched;
    constexpr char kResult[] = "void ";  // which templates have in front
    std::string name = withoutParameters(functionName(kernel));
    if (name.rfind(kResult, 0) == 0) name.erase(0, sizeof(kResult) - 1);
    return name.empty() ? launched : name;
}

int launchBoundsOf(const void* kernel, const char* launched) {
    if (&emuHasLaunchBounds == nullptr) return kMaxThreadsPerBlock;
    if (kernel != nullptr) {
        static thread_local const void* last = nullptr;
        static thread_local int boundsOfLast = 0;
        if (kernel != last) boundsOfLast = symbolTable().launchBoundsOf(last = kernel);
        return boundsOfLast;
    }
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::map<std::string, int>;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [bounds, isNew] = known.emplace(launched, 0);
    if (isNew) bounds->second = symbolTable().launchBoundsOf(withoutTemplateArguments(launched));
    return bounds->second;
}

bool isCalled(const std::string& function, const std::string& name) {
    const std::string whole = ' ' + withoutTemplateArguments(withoutParameters(function));
    if (whole.size() <= name.size()) return false;
    const size_t begin = whole.size() - name.size();
    const char before = whole[begin - 1];
    return whole.compare(begin, name.size(), name) == 0 && (before == ' ' || before == ':');
}

std::optional<Variable> variableAt(const void* address) {
    return symbolTable().variableAt(address);
}

std::string variableSymbol(const void* address) {
    return symbolTable().variableSymbol(address);
}

std::vector<ThreadLocal> sharedVariablesOf(const void* kernel) {
    return symbolTable().sharedVariablesOf(kernel);
}

bool isVariableOf(const ThreadLocal& variable, uintptr_t function) {
    return symbolTable().isVariableOf(variable, function);
}

Variable threadLocals() {
    Variable block{nullptr, 0};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            for (size_t i = 0; i < info->dlpi_phnum; ++i) {
                if (info->dlpi_phdr[i].p_type != PT_TLS || info->dlpi_tls_data == nullptr) continue;
                *static_cast<Variable*>(result) = {info->dlpi_tls_data, info->dlpi_phdr[i].p_memsz};
            }
            return 1;  // the program itself comes first
        },
        &block);
    return block;
}

std::optional<ThreadLocal> threadLocalAt(size_t offset) {
    return symbolTable().threadLocalAt(offset);
}

uintptr_t functionAround(uintptr_t address) {
    return symbolTable().functionAround(address);
}

std::string symbolAt(const void* address) {
    return symbolTable().symbolAt(address);
}

uintptr_t loadBias() {
    uintptr_t bias = 0;
    // The program itself comes first; a return value other than 0 ends the iteration.
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            *static_cast<uintptr_t*>(result) = info->dlpi_addr;
            return 1;
        },
        &bias);
    return bias;
}

std::string demangled(const std::string& symbol) {
    if (symbol.rfind("_Z", 0) != 0) return symbol;  // `v` alone would be the type void
    int status = 0;
    char* name = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    if (name == nullptr) return symbol;
    std::string text = name;
    std::free(name);
    return text;
}

ImagePart imagePartOf(const void* address) {
    ImageQuery query{reinterpret_cast<uintptr_t>(address), ImagePart::None};
    dl_iterate_phdr(&findPart, &query);
    return query.part;
}

}  // namespace emu
