#include "program_code.h"

#include <link.h>

extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __ubsan_handle_out_of_bounds();

namespace emu {
namespace {

#ifdef __aarch64__
const MachineCode& machine = aarch64Code;
#else
const MachineCode& machine = x86Code;
#endif

BasicBlocks blocksOfProgram() {
    BasicBlocks blocks(machine, reinterpret_cast<const uint8_t*>(pcOf(0)),
                       placeOf(reinterpret_cast<uintptr_t>(&__sanitizer_cov_trace_pc)),
                       placeOf(reinterpret_cast<uintptr_t>(&__ubsan_handle_out_of_bounds)));
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* found) {
            for (size_t i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& segment = info->dlpi_phdr[i];
                if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
                const uint32_t begin = placeOf(info->dlpi_addr + segment.p_vaddr);
                static_cast<BasicBlocks*>(found)->scan(
                    begin, begin + static_cast<uint32_t>(segment.p_memsz));
            }
            return 1;  // the program itself comes first
        },
        &blocks);
    return blocks;
}

}  // namespace

uintptr_t afterCallAt(uintptr_t pc) {
    return pc + machine.callSize;
}

BasicBlock basicBlockAt(uint32_t place) {
    static const BasicBlocks& blocks = *new BasicBlocks(blocksOfProgram());
    return blocks.at(place);
}

}  // namespace emu
