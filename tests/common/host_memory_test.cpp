// How much memory there is, read from folders in place of /.
#include "host_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr const char* kMeminfo =
    "MemTotal:       8388608 kB\nMemFree:         100 kB\nMemAvailable:    4194304 kB\n";
constexpr const char* kUnlimited = "9223372036854771712\n";

using Files = std::vector<std::pair<std::string, std::string>>;

class HostMemory : public testing::Test {
  protected:
    HostMemory() {
        char folder[] = "/tmp/host_memory.XXXXXX";
        root_ = std::string(mkdtemp(folder)) + "/";
    }
    ~HostMemory() override { std::filesystem::remove_all(root_); }

    host::Memory with(const Files& files) {
        write("proc/meminfo", kMeminfo);
        for (const auto& [name, text] : files) write(name, text);
        return host::memory(root_);
    }
    void write(const std::string& name, const std::string& text) const {
        const std::filesystem::path path = root_ + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    std::string root_;
};

// Both in MiB.
void expect(const host::Memory& memory, std::size_t total, std::size_t available) {
    EXPECT_EQ(memory.total, total << 20);
    EXPECT_EQ(memory.available, available << 20);
}

std::string mib(std::size_t count) {
    return std::to_string(count << 20) + "\n";
}

TEST_F(HostMemory, WithoutGroupsIsThatOfTheMachine) {
    expect(with({}), 8192, 4096);
}

TEST_F(HostMemory, UnlimitedGroupsDoNotNarrow) {
    expect(with({{"proc/self/cgroup", "0::/user/me\n"},
                 {"sys/fs/cgroup/user/memory.max", "max\n"},
                 {"sys/fs/cgroup/user/me/memory.max", "max\n"}}),
           8192, 4096);
    expect(with({{"proc/self/cgroup", "4:memory:/a\n0::/\n"},
                 {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", kUnlimited}}),
           8192, 4096);
}

// What is in use, but for the page cache, is not available.
TEST_F(HostMemory, SecondVersion) {
    expect(with({{"proc/self/cgroup", "0::/user/me\n"},
                 {"sys/fs/cgroup/user/me/memory.max", mib(1000)},
                 {"sys/fs/cgroup/user/me/memory.current", mib(300)},
                 {"sys/fs/cgroup/user/me/memory.stat",
                  "anon 1\ninactive_file " + mib(40) + "active_file " + mib(60)}}),
           1000, 800);
}

TEST_F(HostMemory, FirstVersion) {
    expect(with({{"proc/self/cgroup", "5:cpu:/x\n4:cpuset,memory:/docker/1\n0::/\n"},
                 {"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", mib(1000)},
                 {"sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes", mib(300)},
                 {"sys/fs/cgroup/memory/docker/1/memory.stat",
                  "inactive_file 7\ntotal_inactive_file " + mib(40) + "total_active_file " +
                      mib(60)}}),
           1000, 800);
}

// The tightest one counts, and the one with the least left.
TEST_F(HostMemory, GroupsAroundTheProcessCountToo) {
    expect(with({{"proc/self/cgroup", "0::/a/b/c\n"},
                 {"sys/fs/cgroup/a/memory.max", mib(500)},
                 {"sys/fs/cgroup/a/memory.current", mib(450)},
                 {"sys/fs/cgroup/a/b/memory.max", "max\n"},
                 {"sys/fs/cgroup/a/b/c/memory.max", mib(600)},
                 {"sys/fs/cgroup/a/b/c/memory.current", mib(10)}}),
           500, 50);
    expect(with({{"sys/fs/cgroup/a/memory.max", mib(600)},
                 {"sys/fs/cgroup/a/memory.current", mib(590)},
                 {"sys/fs/cgroup/a/b/c/memory.max", mib(500)}}),
           500, 10);
}

// A container sees its group as the outermost; /proc may name it as the machine does.
TEST_F(HostMemory, GroupOfAContainer) {
    expect(with({{"proc/self/cgroup", "0::/\n"},
                 {"sys/fs/cgroup/memory.max", mib(256)},
                 {"sys/fs/cgroup/memory.current", mib(6)}}),
           256, 250);
    expect(with({{"proc/self/cgroup", "4:memory:/docker/0123\n"},
                 {"sys/fs/cgroup/memory/memory.limit_in_bytes", mib(128)},
                 {"sys/fs/cgroup/memory/memory.usage_in_bytes", mib(8)}}),
           128, 120);
}

TEST_F(HostMemory, AGroupThatIsFullLeavesNothing) {
    expect(with({{"proc/self/cgroup", "0::/full\n"},
                 {"sys/fs/cgroup/full/memory.max", mib(100)},
                 {"sys/fs/cgroup/full/memory.current", mib(101)}}),
           100, 0);
}

TEST(Addresses, AreWhatTheLimitLeaves) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    if (before.rlim_cur == RLIM_INFINITY) {
        EXPECT_EQ(host::addressesLeft(), SIZE_MAX);
    }
    rlimit narrow = before;
    narrow.rlim_cur = std::min<rlim_t>(before.rlim_max, rlim_t{1} << 50);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &narrow), 0);
    EXPECT_LT(host::addressesLeft(), narrow.rlim_cur);
    EXPECT_GT(host::addressesLeft(), narrow.rlim_cur / 2);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

}  // namespace
