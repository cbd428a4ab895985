// Handles of streams, events and graphs: numbers that stand for objects in a table. A handle is
// only looked up, never dereferenced, and no number is given out twice, so that a handle that was
// destroyed, or never was one, is always noticed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace emu {

// Of an event, or of an executable graph.
inline uint64_t nextNumber() {
    static std::atomic<uint64_t> next{1};
    return next++;
}

template <typename Handle, typename Object>
class HandleTable {
  public:
    Handle insert(std::shared_ptr<Object> object) {
        next_ += kStep;
        objects_.emplace(next_, std::move(object));
        return reinterpret_cast<Handle>(next_);
    }

    std::shared_ptr<Object> find(Handle handle) const {
        const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
        return found == objects_.end() ? nullptr : found->second;
    }

    // The object that the handle stood for, or nullptr if it stood for none.
    std::shared_ptr<Object> remove(Handle handle) {
        const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
        if (found == objects_.end()) return nullptr;
        std::shared_ptr<Object> object = std::move(found->second);
        objects_.erase(found);
        return object;
    }

    void clear() { objects_.clear(); }

  private:
    static constexpr uintptr_t kStep = 16;  // apart from the handles with a fixed meaning, 0 to 4

    std::unordered_map<uintptr_t, std::shared_ptr<Object>> objects_;
    uintptr_t next_ = 0;
};

}  // namespace emu
