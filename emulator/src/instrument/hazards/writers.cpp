#include "writers.h"

#include <algorithm>
#include <cstring>

#include "block_findings.h"
#include "engine/guarded_memory.h"
#include "engine/messages.h"
#include "engine/symbolizer.h"
#include "global_check.h"
#include "instrument/record/program_code.h"

namespace emu {

constexpr size_t kMostCopies = 16, kMostOverwritten = 1024;

void Writers::transferRuns(const BytesSeen* read, const BytesSeen& written) {
    const std::lock_guard<std::mutex> lock(mutex_);
    // One more than are looked through: nothing is known until the next grid.
    if (overwritten_.size() <= kMostOverwritten) overwritten_.push_back(written);
    if (read == nullptr || read->height != 1 || read->depth != 1) return;
    copies_.push_front({read->first, written.first, read->width});
    if (copies_.size() > kMostCopies) copies_.pop_back();
}

void Writers::gridEnded(uint64_t launch, const dim3& grid, const dim3& block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    launch_ = launch;
    grid_ = grid;
    block_ = block;
    overwritten_.clear();
}

uintptr_t Writers::originOf(uintptr_t address, size_t bytes) const {
    for (const Copy& copy : copies_) {
        const size_t offset = address - copy.to;  // huge where it lies before
        if (offset < copy.bytes && bytes <= copy.bytes - offset) return copy.from + offset;
    }
    return 0;
}

// Somewhere between the first and the last byte that was written.
bool Writers::isOverwritten(uintptr_t address) const {
    if (overwritten_.size() > kMostOverwritten) return true;
    return std::any_of(overwritten_.begin(), overwritten_.end(), [&](const BytesSeen& bytes) {
        const size_t all = (bytes.depth - 1) * bytes.slice + (bytes.height - 1) * bytes.pitch;
        return address - bytes.first < all + bytes.width;
    });
}

std::string Writers::writerOf(const void* value, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uintptr_t origin = originOf(reinterpret_cast<uintptr_t>(value), bytes);
    if (origin == 0 || isOverwritten(origin)) return "";
    const auto around = guardedAround(reinterpret_cast<const void*>(origin));
    if (!around || around->reach != Reach::DeviceOnly) return "";  // the host may have written it
    const DeviceMemoryAccess access;
    if (std::memcmp(reinterpret_cast<const void*>(origin), value, bytes) != 0) return "";
    const auto writer = shadow_.writerAt(origin);
    if (!writer || writer->work != static_cast<uint32_t>(launch_)) return "";
    const GlobalRecord& record = writer->access;
    const SourceLine line = sourceLine(pcOf(record.place));
    if (line.line == 0) return "";
    return "thread " + text(threadIndexOf(record.rank, block_)) + " of block " +
           text(blockIndexOf(record.block, grid_)) + " wrote it, " +
           line.file.substr(line.file.rfind('/') + 1) + ":" + std::to_string(line.line);
}

}  // namespace emu
