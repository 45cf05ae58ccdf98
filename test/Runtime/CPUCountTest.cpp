// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The number of CPUs that a process may use, by its affinity mask and by quotas of control groups. The files
// of control groups are made here as on a machine, and as in containers with and without a cgroup namespace.
#include "adjoint/Runtime/Host/CPUCount.h"
#include "TemporaryTree.h"
#include "gtest/gtest.h"

#include <sched.h>

namespace {

unsigned findQuota(const std::vector<std::pair<std::string, std::string>> &files) {
  return adrt::findQuota(TemporaryTree(files).root);
}

const std::string group2 = "/proc/self/cgroup", mounts = "/proc/self/mountinfo";
const std::string mount2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string mount1 = "33 24 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                           "34 24 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

} // namespace

TEST(CPUCount, Version2HasAQuota) {
  auto quota = [](const char *text) {
    return findQuota({{group2, "0::/\n"}, {mounts, mount2}, {"/sys/fs/cgroup/cpu.max", text}});
  };
  EXPECT_EQ(quota("200000 100000\n"), 2);
  EXPECT_EQ(quota("150000 100000\n"), 2);
  EXPECT_EQ(quota("10000 100000\n"), 1);
  EXPECT_EQ(quota("max 100000\n"), 0);
  EXPECT_EQ(quota(""), 0);
  EXPECT_EQ(quota("200000\n"), 0);
  EXPECT_EQ(quota("1 0\n"), 0);
}

// The quotas of ancestors limit a group.
TEST(CPUCount, GroupsAboveCount) {
  std::string folder = "/sys/fs/cgroup/user.slice";
  EXPECT_EQ(findQuota({{group2, "0::/user.slice/work/job\n"},
                       {mounts, mount2},
                       {folder + "/cpu.max", "300000 100000\n"},
                       {folder + "/work/cpu.max", "max 100000\n"},
                       {folder + "/work/job/cpu.max", "500000 100000\n"}}),
            3);
}

TEST(CPUCount, Version1HasAQuota) {
  std::string folder = "/sys/fs/cgroup/cpu,cpuacct/docker/1f";
  auto quota = [&](const char *text, const std::string &mount) {
    return findQuota({{group2, "7:cpuset:/docker/1f\n5:cpu,cpuacct:/docker/1f\n0::/docker/1f\n"},
                      {mounts, mount},
                      {folder + "/cpu.cfs_quota_us", text},
                      {folder + "/cpu.cfs_period_us", "50000\n"}});
  };
  EXPECT_EQ(quota("125000\n", mount1), 3);
  EXPECT_EQ(quota("-1\n", mount1), 0);
  EXPECT_EQ(quota("125000\n", ""), 0);
}

// A container sees its own group as the root of the mount.
TEST(CPUCount, MountsBeginAtTheContainer) {
  EXPECT_EQ(
      findQuota({{group2, "5:cpu,cpuacct:/docker/1f/job\n"},
                 {mounts, "34 24 0:30 /docker/1f /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"},
                 {"/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "400000\n"},
                 {"/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"}}),
      4);
}

TEST(CPUCount, ThereMayBeNoGroups) {
  EXPECT_EQ(findQuota({}), 0);
  EXPECT_EQ(findQuota({{group2, "nonsense\n1:\n"}, {mounts, "short\n1 2 3 - cgroup2\n"}}), 0);
}

TEST(CPUCount, AffinityCounts) {
  EXPECT_GE(adrt::countCPUs(), 1);
  cpu_set_t before, one;
  EXPECT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before))
    ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(adrt::countCPUs(), 1);
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_TRUE(adrt::findQuota() != 0 || adrt::countCPUs() == static_cast<unsigned>(CPU_COUNT(&before)));
}
