#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/control_groups.hpp"

namespace zonal::core {
namespace {

namespace fs = std::filesystem;

/// A folder with the files of proc and sys that say what CPU time there is.
class FakeSystem {
  public:
    FakeSystem() : root_(fs::temp_directory_path() / ("zonal-cpus-" + std::to_string(getpid()))) {}
    FakeSystem(const FakeSystem&) = delete;
    FakeSystem& operator=(const FakeSystem&) = delete;
    ~FakeSystem() { fs::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    std::optional<double> quota() const { return cpu_quota(root_); }

  private:
    fs::path root_;
};

TEST(CpuQuota, IsNoneWithoutControlGroupsOrLimits) {
    const FakeSystem system;
    EXPECT_FALSE(system.quota());
    system.write("proc/self/cgroup", "0::/job\n");
    EXPECT_FALSE(system.quota());
    system.write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
    EXPECT_FALSE(system.quota());
}

TEST(CpuQuota, IsTheLeastOfVersion2AndTheGroupsAbove) {
    const FakeSystem system;
    system.write("proc/self/cgroup", "0::/job/step\n");
    system.write("sys/fs/cgroup/job/step/cpu.max", "400000 100000\n");
    EXPECT_EQ(system.quota(), 4);
    system.write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    EXPECT_EQ(system.quota(), 1.5);
}

TEST(CpuQuota, IsThatOfVersion1) {
    const FakeSystem system;
    system.write("proc/self/cgroup", "7:cpu,cpuacct:/job\n4:memory:/other\n");
    system.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000");
    system.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1");
    EXPECT_FALSE(system.quota());
    system.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000");
    EXPECT_EQ(system.quota(), 2);
}

}  // namespace
}  // namespace zonal::core
