// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How much memory there is, of the machine and by limits of control groups.
#include "adjoint/Support/MemoryCount.h"
#include "TemporaryTree.h"
#include "adjoint/Support/MemoryLimit.h"
#include "gtest/gtest.h"

#include <tuple>

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

const std::pair<std::string, std::string> machine = {
    "/proc/meminfo", "MemTotal:  1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\nHugePages_Total:  0\n"
                     "SwapTotal: 200 kB\nSwapFree:  50 kB\n"};
const std::pair<std::string, std::string> version2 = {
    "/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n"};

std::pair<int64_t, int64_t> count(Files files) {
  adrt::MemoryCount memory = adrt::countHostMemory(TemporaryTree(files).root);
  return {memory.free, memory.total};
}

std::pair<int64_t, int64_t> bytes(int64_t free, int64_t total) { return {free, total}; }

} // namespace

TEST(MemoryCount, SwapSpaceCounts) { EXPECT_EQ(count({machine}), bytes(450 * 1024, 1200 * 1024)); }

TEST(MemoryCount, UnknownWithoutTheFile) {
  EXPECT_EQ(count({}), bytes(-1, -1));
  EXPECT_EQ(count({{"/proc/meminfo", "MemTotal: 5 kB\n"}}), bytes(-1, -1));
  EXPECT_EQ(adrt::MemoryCount().text(), "");
  EXPECT_EQ((adrt::MemoryCount{5, 7}.text()), "5 of 7 bytes are free");
}

// Pages of files are free: the system takes them back.
TEST(MemoryCount, GroupsLimit) {
  Files files = {machine, version2, {"/proc/self/cgroup", "0::/work/job\n"}};
  files.push_back({"/sys/fs/cgroup/work/job/memory.max", "max\n"});
  files.push_back({"/sys/fs/cgroup/work/job/memory.current", "5\n"});
  EXPECT_EQ(count(files), bytes(450 * 1024, 1200 * 1024));
  files.push_back({"/sys/fs/cgroup/work/memory.max", "100000\n"});
  files.push_back({"/sys/fs/cgroup/work/memory.current", "70000\n"});
  EXPECT_EQ(count(files), bytes(30000, 100000));
  files.push_back(
      {"/sys/fs/cgroup/work/memory.stat", "anon 60000\nfile 10000\ninactive_file 1000\nactive_file 2000\n"});
  EXPECT_EQ(count(files), bytes(33000, 100000));
}

TEST(MemoryCount, Version1Limits) {
  EXPECT_EQ(
      count({machine,
             {"/proc/self/mountinfo", "34 24 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"},
             {"/proc/self/cgroup", "4:memory:/job\n"},
             {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "100000\n"},
             {"/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "70000\n"},
             {"/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 5\ntotal_inactive_file 1000\n"}}),
      bytes(31000, 100000));
}

TEST(MemoryCount, ThisMachineHasMemory) {
  adrt::MemoryCount memory = adrt::countHostMemory();
  EXPECT_GT(memory.free, 0);
  EXPECT_GE(memory.total, memory.free);
}

TEST(MemoryLimit, CountsWhatIsTaken) {
  adrt::setMemoryLimit(int64_t(1) << 40);
  int64_t before = (int64_t(1) << 40) - adrt::countTensorMemory().free;
  adrt::setMemoryLimit(before + 1000);
  EXPECT_TRUE(adrt::takeMemory(600));
  EXPECT_EQ(adrt::countTensorMemory().free, 400);
  EXPECT_FALSE(adrt::takeMemory(600));
  EXPECT_FALSE(adrt::takeMemory(INT64_MAX));
  EXPECT_EQ(adrt::describeLackOfMemory(600),
            "600 bytes; 400 of " + std::to_string(before + 1000) + " bytes are free");
  EXPECT_TRUE(adrt::takeMemory(400));
  EXPECT_EQ(adrt::countTensorMemory().free, 0);
  adrt::giveMemory(1000);
  EXPECT_EQ(adrt::countTensorMemory().free, 1000);
  adrt::setMemoryLimit(0);
}

TEST(MemoryLimit, NoMoreThanTheMachineHas) {
  int64_t total = adrt::countHostMemory().total;
  EXPECT_FALSE(adrt::fitsMemory(total + 1));
  EXPECT_FALSE(adrt::fitsMemory(total - total / 32)); // other processes have some
  EXPECT_TRUE(adrt::fitsMemory(1000));
}
