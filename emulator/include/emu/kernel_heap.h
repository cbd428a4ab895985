// malloc(), free(), new and delete of a translated program: in kernels they have a heap of their
// own, on the device (engine/kernel_heap.h); in host code they are what they always are.
#pragma once

#include "emu/kernel_heap_tag.h"

#define EMU_GOES_TO(NAME, TARGET) __asm__(".set " NAME ", " TARGET);

// At the end of a translated file that may call these, unless it replaces them for the whole
// program: its calls go to the engine's functions, whatever the source names them by. The assembler
// takes one name for the other. (The engine's own files, and libraries, are not concerned. But they
// share functions of the standard library's headers with the file, which delete what is the host's:
// the address must tell.) Compilers make calloc() of malloc() and memset().
#define EMU_KERNEL_HEAP                                               \
    EMU_GOES_TO("malloc", "emu_malloc")                               \
    EMU_GOES_TO("calloc", "emu_calloc")                               \
    EMU_GOES_TO("free", "emu_free")                                   \
    EMU_GOES_TO("_ZdlPv", "emu_delete")                               \
    EMU_GOES_TO("_ZdlPvm", "emu_delete")                              \
    EMU_GOES_TO("_ZdaPv", "emu_delete_array")                         \
    EMU_GOES_TO("_ZdaPvm", "emu_delete_array")                        \
    EMU_GOES_TO("_ZdlPvSt11align_val_t", "emu_delete_aligned")        \
    EMU_GOES_TO("_ZdlPvmSt11align_val_t", "emu_delete_sized_aligned") \
    EMU_GOES_TO("_ZdaPvSt11align_val_t", "emu_delete_array_aligned")  \
    EMU_GOES_TO("_ZdaPvmSt11align_val_t", "emu_delete_array_sized_aligned")
