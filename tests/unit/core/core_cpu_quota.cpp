#include <gtest/gtest.h>

#include "core/threads/control_groups.hpp"
#include "fake_system.hpp"

namespace zonal::core {
namespace {

class FakeSystem : public test::FakeSystem {
  public:
    FakeSystem() : test::FakeSystem("cpus") {}
    std::optional<double> quota() const { return cpu_quota(root()); }
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
