#include "emu/writer.h"

#include "watcher.h"

namespace emu {

std::string writerOf(const void* value, std::size_t bytes) {
    return watcher != nullptr ? watcher->writerOf(value, bytes) : "";
}

}  // namespace emu
