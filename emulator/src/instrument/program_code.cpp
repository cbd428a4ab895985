#include "program_code.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <vector>

extern "C" void __sanitizer_cov_trace_pc();

namespace emu {
namespace {

#ifdef __x86_64__

constexpr uint8_t kCall = 0xe8;  // with a 32-bit offset
constexpr uint32_t kCallSize = 5;

int32_t offsetAt(const uint8_t* code) {
    int32_t offset;
    std::memcpy(&offset, code, sizeof(offset));
    return offset;
}

// Every block begins with a call of the hook, and is named by what follows that call.
class CodeBlocks {
  public:
    CodeBlocks() {
        dl_iterate_phdr(
            [](dl_phdr_info* info, size_t, void* self) {
                for (size_t i = 0; i < info->dlpi_phnum; ++i) {
                    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
                    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
                    static_cast<CodeBlocks*>(self)->scan(info->dlpi_addr + segment.p_vaddr,
                                                         segment.p_memsz);
                }
                return 1;  // the program itself comes first
            },
            this);
    }

    CodeBlock at(uint32_t place) const {
        const auto found = std::lower_bound(places_.begin(), places_.end(), place);
        if (found == places_.end() || *found != place || found + 1 == places_.end()) return {};
        const uint32_t end = found[1] - kCallSize;
        CodeBlock block{end - place, false, false, 0, false};
        findJump(place, end, &block);
        block.endsWithCall = !block.conditional && block.bytes >= kCallSize &&
                             *reinterpret_cast<const uint8_t*>(pcOf(end - kCallSize)) == kCall;
        return block;
    }

  private:
    void scan(uintptr_t begin, size_t size) {
        const auto hook = reinterpret_cast<uintptr_t>(&__sanitizer_cov_trace_pc);
        const auto* code = reinterpret_cast<const uint8_t*>(begin);
        for (size_t i = 0; i + kCallSize <= size; ++i) {
            if (code[i] != kCall) continue;
            const uintptr_t after = begin + i + kCallSize;
            if (after + static_cast<uintptr_t>(offsetAt(code + i + 1)) != hook) continue;
            places_.push_back(placeOf(after));
        }
    }

    bool isBlock(uint32_t place) const {
        return std::binary_search(places_.begin(), places_.end(), place);
    }

    // Looks for a conditional jump to a block at the end of [begin, end), alone or before an
    // unconditional one. Compilers jump forward where the source's condition does not hold, over
    // what it guards, and back where it does, to a loop's body.
    void findJump(uint32_t begin, uint32_t end, CodeBlock* block) const {
        const auto* code = reinterpret_cast<const uint8_t*>(pcOf(0));
        for (const uint32_t last : {end, end - 2, end - 5}) {
            if (last < begin + 2 || last > end) continue;
            if (last == end - 2 && code[last] != 0xeb) continue;
            if (last == end - 5 && code[last] != 0xe9) continue;
            uint32_t target = 0;
            if ((code[last - 2] & 0xf0) == 0x70) {
                target = last + static_cast<uint32_t>(static_cast<int8_t>(code[last - 1]));
            }
            if (!isBlock(target + kCallSize) && last >= begin + 6 && code[last - 6] == 0x0f &&
                (code[last - 5] & 0xf0) == 0x80) {
                target = last + static_cast<uint32_t>(offsetAt(code + last - 4));
            }
            if (target == 0 || !isBlock(target + kCallSize)) continue;
            block->conditional = true;
            block->target = target + kCallSize;
            block->jumpsIfTrue = target <= begin;
            return;
        }
    }

    std::vector<uint32_t> places_;
};

#else

class CodeBlocks {
  public:
    CodeBlock at(uint32_t) const { return {}; }
};

#endif

}  // namespace

CodeBlock codeBlockAt(uint32_t place) {
    static const CodeBlocks& blocks = *new CodeBlocks;
    return blocks.at(place);
}

}  // namespace emu
