// A digest of what the program gets from the device: equal in two runs that computed the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace emu {

// Thread-safe.
class Results {
  public:
    // With CUDA_EMULATOR_RESULTS=FILE in the environment, the digest goes there at the end.
    Results();
    ~Results();

    // The host gets these bytes.
    void add(const void* memory, size_t bytes);

  private:
    std::string path_;
    std::mutex mutex_;
    uint64_t digest_;
};

}  // namespace emu
