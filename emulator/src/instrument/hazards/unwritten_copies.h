// Host memory that copies have brought bytes to which nothing had written: a copy of a whole array
// of which a kernel filled a part is right as long as the host uses that part alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace emu {

// Thread-safe.
class UnwrittenCopies {
  public:
    struct Bytes {
        uintptr_t place;  // of the copy
        uintptr_t from;   // where they came from
        size_t count;     // of all unwritten bytes that the copy brought
    };

    // As Watcher::copiedToHost(); `place` is the copy's in the program's code.
    void copied(const void* to, const void* from, size_t bytes,
                const std::vector<uint8_t>& unwritten, uintptr_t place);
    void hostWrites(uintptr_t address, size_t bytes);
    // The host copies them on.
    void hostCopies(uintptr_t to, uintptr_t from, size_t bytes);
    // If all of these bytes came from a copy and nothing has written them, here or there.
    std::optional<Bytes> allUnwritten(uintptr_t address, size_t bytes);

    // All that is known lies between these addresses.
    uintptr_t begin() const { return begin_; }
    uintptr_t end() const { return end_; }

  private:
    struct Copied {
        uintptr_t from, offset;  // `offset` from the start of its allocation
        uintptr_t place;
        size_t count;                    // of unwritten bytes, when they came
        size_t bytes;                    // of memory
        std::vector<uint8_t> unwritten;  // a bit for each

        Copied part(size_t first, size_t count) const;
    };

    void splitAt(uintptr_t address);
    void forget(uintptr_t address, size_t bytes);

    std::mutex mutex_;
    std::map<uintptr_t, Copied> copies_;  // by where they are now; they do not overlap
    uintptr_t begin_ = UINTPTR_MAX, end_ = 0;
};

}  // namespace emu
