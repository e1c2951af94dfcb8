#include <gmock/gmock.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <memory>
#include <vector>

#include "fake_system.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace {

class FakeSystem : public test::FakeSystem {
  public:
    FakeSystem() : test::FakeSystem("memory") {
        write("proc/meminfo",
              "MemTotal:       32000000 kB\nMemFree: 1 kB\nMemAvailable:   1000000 kB\nSwapFree: 0 kB\n");
    }
    /// Version 2 if folder begins with none of version 1's.
    void write_group(const std::string& folder, const std::string& limit, const std::string& used,
                     const std::string& cache) const {
        write(folder + "/memory.max", limit);
        write(folder + "/memory.current", used);
        write(folder + "/memory.stat", "anon 5\ninactive_file " + cache + "\n");
    }
    AvailableMemory available() const { return available_memory(root().string()); }
};

TEST(Memory, IsWhatTheSystemHasAvailableAndSwap) {
    const FakeSystem system;
    EXPECT_EQ(system.available().bytes, 1000000.0 * 1024);
    EXPECT_EQ(system.available().limit, "this machine");
    system.write("proc/meminfo", "MemAvailable: 1000 kB\nSwapFree: 500 kB\n");
    EXPECT_EQ(system.available().bytes, 1500.0 * 1024);
}

TEST(Memory, IsLimitedByControlGroupsOfVersion2AndThoseAbove) {
    const FakeSystem system;
    system.write("proc/self/cgroup", "0::/job/step\n");
    system.write_group("sys/fs/cgroup/job/step", "max", "700", "0");
    EXPECT_EQ(system.available().limit, "this machine");
    system.write_group("sys/fs/cgroup/job", "5000", "2000", "300");
    EXPECT_EQ(system.available().bytes, 3300);  // inactive files can be dropped
    EXPECT_EQ(system.available().limit, "the control group (container)");
    system.write_group("sys/fs/cgroup", "900", "1000", "0");
    EXPECT_EQ(system.available().bytes, 0);  // never below
}

TEST(Memory, IsLimitedByControlGroupsOfVersion1) {
    const FakeSystem system;
    system.write("proc/self/cgroup", "12:pids:/docker/x\n9:cpu,memory:/docker/x\n");
    // A container sees its own group as the top and not under the path that it is told.
    system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
    system.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "400000\n");
    system.write("sys/fs/cgroup/memory/memory.stat", "cache 5\ntotal_inactive_file 1000\n");
    EXPECT_EQ(system.available().bytes, 601000);
}

TEST(Memory, ThatIsMissingIsAnErrorThatNamesIt) {
    EXPECT_NO_THROW(require_memory(1, "a map"));
    try {
        require_memory(1e18, "a map");
        FAIL() << "there are no 1e18 bytes";
    } catch (const OutOfMemory& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("a map needs 1e+09 GB of memory; "));
        EXPECT_THAT(error.what(), testing::HasSubstr("GB left"));
    }
}

#ifdef __GLIBC__
TEST(Memory, ThatWasFreedIsReturnedToTheSystem) {
    constexpr std::size_t n_bytes = 1000, n_blocks = 100'000;
    const auto before = mallinfo2().uordblks;
    std::vector<std::unique_ptr<std::vector<char>>> blocks;
    for (std::size_t i = 0; i < n_blocks; ++i) blocks.push_back(std::make_unique<std::vector<char>>(n_bytes));
    if (mallinfo2().uordblks < before + n_bytes * n_blocks)
        GTEST_SKIP() << "this program's memory is not glibc's, as where a sanitizer keeps what was freed";
    const auto last = std::move(blocks.back());  // above the others: malloc keeps what is below it
    blocks.clear();
    const double kept = resident_memory().now;
    return_freed_memory();
    EXPECT_LT(resident_memory().now, kept - 0.8 * n_bytes * n_blocks);
}
#endif

}  // namespace
}  // namespace zonal
