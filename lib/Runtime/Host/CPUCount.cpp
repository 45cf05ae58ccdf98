/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The affinity of the process, and the quota of its container. A container may have a cgroup namespace of its
   own: paths then begin at the root of the namespace, and the mount states which cgroup is its root. */
#include "adjoint/Runtime/Host/CPUCount.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <unistd.h>
#include <vector>

using namespace adrt;

namespace {

/// The mount point of a hierarchy of control groups, and the group that is its root.
struct Mount {
  std::string folder, root;
};

bool contains(const std::string &list, const char *word) {
  return ("," + list + ",").find("," + std::string(word) + ",") != std::string::npos;
}

// `ID PARENT MAJOR:MINOR ROOT FOLDER OPTIONS [FIELD]… - TYPE SOURCE OPTIONS`, as in proc(5).
Mount findMount(const std::string &root, bool isVersion2) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    size_t dash = line.find(" - ");
    if (dash == std::string::npos)
      continue;
    std::istringstream head(line), tail(line.substr(dash + 3));
    std::string skipped, type, options;
    Mount mount;
    head >> skipped >> skipped >> skipped >> mount.root >> mount.folder;
    tail >> type >> skipped >> options;
    if (isVersion2 ? type == "cgroup2" : type == "cgroup" && contains(options, "cpu"))
      return mount;
  }
  return {};
}

/// The quota of the group in `folder`, in CPUs; 0 without a quota, which is written "max" or -1.
unsigned quotaOf(const std::string &folder, bool isVersion2) {
  long long quota = 0, period = 0;
  if (isVersion2) {
    std::ifstream(folder + "/cpu.max") >> quota >> period;
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? static_cast<unsigned>(std::min((quota - 1) / period + 1, 1LL << 20)) : 0;
}

unsigned smaller(unsigned left, unsigned right) {
  return left && right ? std::min(left, right) : left + right;
}

/// The minimum quota of the group and its ancestors, as far as the mount shows them.
unsigned quotaAbove(const std::string &root, bool isVersion2, std::string group) {
  Mount mount = findMount(root, isVersion2);
  if (mount.folder.empty())
    return 0;
  if (mount.root != "/" && group.compare(0, mount.root.size(), mount.root) == 0)
    group.erase(0, mount.root.size());
  unsigned quota = 0;
  while (true) {
    quota = smaller(quota, quotaOf(root + mount.folder + group, isVersion2));
    size_t slash = group.rfind('/');
    if (group.empty() || slash == std::string::npos)
      return quota;
    group.erase(slash);
  }
}

/// The CPUs of the affinity mask; 0 when the system does not give it.
unsigned countAllowed() {
  for (size_t maxCPUs = CPU_SETSIZE; maxCPUs <= size_t(1) << 20; maxCPUs *= 2) {
    size_t bytes = CPU_ALLOC_SIZE(maxCPUs);
    std::vector<unsigned long> mask(bytes / sizeof(unsigned long));
    auto *set = reinterpret_cast<cpu_set_t *>(mask.data());
    if (sched_getaffinity(0, bytes, set) == 0)
      return static_cast<unsigned>(CPU_COUNT_S(bytes, set));
  }
  return 0;
}

} // namespace

// `ID:CONTROLLERS:GROUP`; in version 2 the ID is 0 and there are no controllers.
unsigned adrt::findQuota(const std::string &root) {
  unsigned quota = 0;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    bool isVersion2 = controllers.empty();
    if (isVersion2 || contains(controllers, "cpu"))
      quota = smaller(quota, quotaAbove(root, isVersion2, group));
  }
  return quota;
}

unsigned adrt::countCPUs() {
  unsigned allowed = countAllowed();
  if (allowed == 0)
    allowed = static_cast<unsigned>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  return std::max(smaller(allowed, findQuota()), 1u);
}
