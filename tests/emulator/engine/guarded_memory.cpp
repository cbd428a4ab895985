// Device memory for the hazard check where the system has none to give.
#include "engine/guarded_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace {

using emu::Reach;
using emu::takeGuarded;

constexpr size_t kMiB = size_t{1} << 20;

size_t dataNow() {
    std::ifstream status("/proc/self/status");
    std::string word;
    size_t kibibytes = 0;
    while (status >> word) {
        if (word == "VmData:" && status >> kibibytes) return kibibytes << 10;
    }
    ADD_FAILURE() << "/proc/self/status does not say";
    return 0;
}

// While one lives, the process gets hardly more memory to write to (ulimit -d).
class NoMoreData {
  public:
    NoMoreData() {
        EXPECT_EQ(0, getrlimit(RLIMIT_DATA, &before_));
        rlimit narrow = before_;
        narrow.rlim_cur = std::min<rlim_t>(before_.rlim_max, dataNow() + 32 * kMiB);
        EXPECT_EQ(0, setrlimit(RLIMIT_DATA, &narrow));
    }
    ~NoMoreData() { setrlimit(RLIMIT_DATA, &before_); }
    NoMoreData(const NoMoreData&) = delete;
    NoMoreData& operator=(const NoMoreData&) = delete;

  private:
    rlimit before_{};
};

TEST(GuardedMemory, IsNullWhereThereIsNone) {
    const NoMoreData limit;
    EXPECT_EQ(nullptr, takeGuarded(64 * kMiB, Reach::Both));
    auto* const small = static_cast<char*>(takeGuarded(kMiB, Reach::Both));
    ASSERT_NE(nullptr, small);
    small[0] = 1;
}

TEST(GuardedMemory, TakesNoAddressesWhereThereIsNone) {
    constexpr size_t kSize = 128 * kMiB;
    {
        const NoMoreData limit;  // as often as all addresses would not suffice for
        for (int i = 0; i < 30000; ++i) ASSERT_EQ(nullptr, takeGuarded(kSize, Reach::Both));
    }
    EXPECT_NE(nullptr, takeGuarded(kSize, Reach::Both));
}

TEST(GuardedMemoryDeathTest, EndsTheProgramWhereItCannotBeReached) {
    EXPECT_EXIT(
        {
            emu::guardAllocations = true;
            takeGuarded(64 * kMiB, Reach::DeviceOnly);
            const NoMoreData limit;
            const emu::DeviceMemoryAccess access;
        },
        testing::ExitedWithCode(1), "cannot allocate memory for the hazard check");
}

}  // namespace
