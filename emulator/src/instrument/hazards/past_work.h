// What earlier work of streams, which may still be running, has done to memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/watcher.h"
#include "global_record.h"
#include "instrument/record/stream_order.h"
#include "launch_point.h"
#include "word_rules.h"

namespace emu {

// Who did something to global memory, as seen from what a launch does to it.
enum class Doer : uint8_t { SameLaunch, Parent, Kernel, Copy, Fill };

// What some work did to some bytes of a word; block, rank and the like are a kernel's.
struct PastRecord {
    GlobalRecord access;
    uint32_t work = 0;  // its number
    Doer doer = Doer::Kernel;
    bool ordered = false;  // before the work that runs
};

// The last write, the last atomic, and two reads: by different work where there is such.
struct PastWord {
    PastRecord write, atomic, read[2];

    void add(const PastRecord& record);
};

// A launch.
struct LaunchWork : Work {
    // The kernels that it was launched by, with their numbers: they may still run.
    std::vector<std::pair<uint64_t, LaunchPoint>> parents;
};

// Of a page of memory.
struct PastPage {
    static constexpr size_t kBytes = 4096;

    std::array<PastWord, kBytes / kWordBytes> words;
    bool anyUnordered = false;  // with the work that runs

    // Says of each record whether it is ordered before this work, or else whose it is.
    void order(StreamOrder& order, const LaunchWork& work);
};

// A copy or a fill.
struct TransferWork {
    uint64_t work;   // its number
    uint32_t place;  // of the call
    Doer doer;
    BytesSeen read, written;  // of no width: not the device's business
};

// Behind the last one.
uintptr_t endOf(const BytesSeen& bytes);
// Whether one of these bytes lies there.
bool holds(const BytesSeen& bytes, uintptr_t address);

// Those that may still be running. Thread-safe.
class Transfers {
  public:
    explicit Transfers(StreamOrder& order) : order_(order) {}

    void add(const TransferWork& transfer, const Work& work);
    // Memory was freed, and may become something else.
    void forget(uintptr_t begin, size_t bytes);

    // What they did to the word at an address.
    void findAt(uintptr_t word, std::vector<PastRecord>* records);
    // The host does not know of all that they have ended which touch these bytes (write them, if
    // `writes`).
    bool mayRun(uintptr_t begin, size_t bytes, bool writes);
    // Some that this work does not wait for did something to the page that begins there.
    bool touch(uintptr_t page, const Work& work);
    // Adds what they did to the page that begins at `begin`.
    void addTo(PastPage& page, uintptr_t begin);

  private:
    StreamOrder& order_;
    std::mutex mutex_;
    std::vector<TransferWork> transfers_;  // in the order of their numbers
    size_t most_ = 0;                      // before those are forgotten that have ended
};

// Calls `look(word)` for each word of these bytes until it returns true.
template <typename Look>
void forWords(const BytesSeen& bytes, Look look) {
    if (bytes.width == 0) return;
    for (size_t z = 0; z < bytes.depth; ++z) {
        for (size_t y = 0; y < bytes.height; ++y) {
            const uintptr_t row = bytes.first + z * bytes.slice + y * bytes.pitch;
            const uintptr_t first = row / kWordBytes * kWordBytes;
            for (uintptr_t word = first; word < row + bytes.width; word += kWordBytes) {
                if (look(word, bytesOfWord(word, row, row + bytes.width))) return;
            }
        }
    }
}

}  // namespace emu
