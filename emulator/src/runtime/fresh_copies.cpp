#include "fresh_copies.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "engine/allocations.h"
#include "engine/messages.h"
#include "engine/poison.h"
#include "engine/symbolizer.h"

namespace emu {
namespace {

struct FreshCopies {
    std::mutex mutex;
    std::string first;    // what the line says
    unsigned others = 0;  // allocations
};

FreshCopies& freshCopies() {
    static FreshCopies& instance = *new FreshCopies;  // used at the program's end
    return instance;
}

void tellAtExit() {
    FreshCopies& copies = freshCopies();
    const std::lock_guard<std::mutex> lock(copies.mutex);
    const std::string others = copies.others == 0
                                   ? ""
                                   : format(" (and bytes from %u more allocation%s)", copies.others,
                                            copies.others == 1 ? "" : "s");
    std::fprintf(stderr,
                 "emulator: %s hold the pattern of fresh memory, 0x%X, as if nothing had written "
                 "them%s. CUDA_EMULATOR_FRESH=zero fills it with zeros instead; ./lab check finds "
                 "kernels that read such memory\n",
                 copies.first.c_str(), kPoison, others.c_str());
}

// Words with the pattern from byte `begin` of an allocation to byte `end` [bytes]. Four at a time:
// that takes less time than copying them.
size_t freshBytes(const char* base, size_t begin, size_t end) {
    using FourWords = uint32_t __attribute__((vector_size(16)));
    constexpr size_t kWord = sizeof(kPoison);
    const FourWords poison = {kPoison, kPoison, kPoison, kPoison};
    FourWords counts = {};
    size_t i = (begin + kWord - 1) / kWord * kWord;
    for (; i + sizeof(FourWords) <= end; i += sizeof(FourWords)) {
        FourWords words;
        std::memcpy(&words, base + i, sizeof(words));
        counts -= words == poison;  // -1 where it is so
    }
    size_t count = size_t{counts[0]} + counts[1] + counts[2] + counts[3];
    for (; i + kWord <= end; i += kWord) count += std::memcmp(base + i, &kPoison, kWord) == 0;
    return count * kWord;
}

void tell(const Allocation& allocation, size_t fresh, const Box& box) {
    FreshCopies& copies = freshCopies();
    const std::lock_guard<std::mutex> lock(copies.mutex);
    if (!copies.first.empty()) {
        ++copies.others;
        return;
    }
    const SourceLine line = sourceLine(hostPlace());
    const std::string place =
        line.line > 0 ? "that " + line.file + ":" + std::to_string(line.line) + " copied"
                      : "copied";
    copies.first = format("%zu of the %zu bytes %s to the host from allocation %u (%zu bytes)",
                          fresh, box.width * box.height * box.depth, place.c_str(),
                          allocation.number, allocation.size);
    std::atexit(tellAtExit);
}

}  // namespace

void noteFreshCopied(const Layout& source, const Box& box) {
    if (!freshIsPoison()) return;
    const std::optional<Allocation> allocation = findAllocation(source.pointer);
    if (!allocation ||
        (allocation->kind != MemoryKind::Device && allocation->kind != MemoryKind::Managed)) {
        return;
    }
    const auto* const base = static_cast<const char*>(allocation->base);
    const auto offsetOf = [&](size_t y, size_t z) {
        return static_cast<size_t>(source.row(y, z) - base);
    };
    const size_t known = allocation->writtenTo;
    const size_t begin = offsetOf(0, 0);
    const size_t end =
        std::min(offsetOf(box.height - 1, box.depth - 1) + box.width, kPoisonedBytes);
    if (end <= known) return;
    size_t fresh = 0;
    for (size_t z = 0; z < box.depth; ++z) {
        for (size_t y = 0; y < box.height; ++y) {
            const size_t row = offsetOf(y, z);
            fresh += freshBytes(base, std::max(row, known), std::min(row + box.width, end));
        }
    }
    const bool inOnePiece = box.height == 1 && box.depth == 1;
    if (fresh > 0) {
        tell(*allocation, fresh, box);
        setWrittenTo(base, allocation->size);  // once for an allocation
    } else if (inOnePiece && begin <= known) {
        setWrittenTo(base, end);
    }
}

}  // namespace emu
