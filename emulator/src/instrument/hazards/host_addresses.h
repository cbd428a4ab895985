// What the host gives to the device although it is good on the host alone: addresses of its copies
// of variables, of its functions, and of its tables of virtual functions. Here they are the
// device's, too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "emu/kernel_arguments.h"
#include "engine/watcher.h"
#include "findings.h"
#include "instrument/record/recorder.h"

namespace emu {

// Thread-safe.
class HostAddresses {
  public:
    // Gets what is found, and the place in the host's code.
    using Report = std::function<void(Finding, uintptr_t)>;

    explicit HostAddresses(Report report) : report_(std::move(report)) {}

    // The host launches a kernel.
    void argumentsGiven(const std::string& kernel, const KernelArgument* arguments, size_t count);
    // As those of Watcher.
    void transferRuns(const BytesSeen* read, const BytesSeen& written);
    void memoryFreed(const void* base, size_t bytes) { forget(number(base), bytes); }
    void symbolAddressGiven(const void* symbol) { give(number(symbol)); }
    // The host is about to do so in memory that it shares with the device.
    void hostUses(const Access& access);
    void gridBegins() { settle(); }

    // In a kernel: whether the host may have put such an address there. For hot paths.
    bool mayHold(uintptr_t address, size_t bytes) const {
        return address < end_.load(std::memory_order_relaxed) &&
               address + bytes > begin_.load(std::memory_order_relaxed);
    }
    // What is wrong about an address that a kernel reads there; its own act is missing.
    std::optional<Finding> readByDevice(uintptr_t address, size_t bytes);
    void writtenByDevice(uintptr_t address, size_t bytes) { forget(address, bytes); }

  private:
    // An address of the host, and who has put it there.
    struct Held {
        uintptr_t value, place;
        const char* verb;
    };

    static uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

    // What is wrong about the value in the device's hands, as far as is known.
    std::optional<Hazard> hazardOf(uintptr_t value);
    std::optional<Held> heldAt(uintptr_t address);
    void give(uintptr_t value);
    void hold(uintptr_t address, const Held& held);
    void forget(uintptr_t address, size_t bytes);
    void settle();
    void findPlainCopy(const BytesSeen& bytes);
    void copyRow(uintptr_t from, uintptr_t to, size_t bytes, bool fromHost, bool toHost);

    Report report_;
    std::mutex mutex_;
    std::set<uintptr_t> given_;                 // what the host has from the device
    std::map<uintptr_t, Held> held_;            // by where they are in the device's memory
    std::atomic<uintptr_t> begin_{0}, end_{0};  // around these
    // The host was about to write there what may be a pointer.
    std::atomic<uintptr_t> unsettled_{0}, unsettledBytes_{0}, unsettledPc_{0};
};

}  // namespace emu
