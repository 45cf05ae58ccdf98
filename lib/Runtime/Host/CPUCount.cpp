/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The affinity of the process, and the quota of its container. */
#include "adjoint/Runtime/Host/CPUCount.h"
#include "ControlGroups.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <unistd.h>
#include <vector>

using namespace adrt;

namespace {

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

unsigned adrt::findQuota(const std::string &root) {
  unsigned quota = 0;
  visitGroups(root, "cpu", [&](const std::string &folder, bool isVersion2) {
    quota = smaller(quota, quotaOf(folder, isVersion2));
  });
  return quota;
}

unsigned adrt::countCPUs() {
  unsigned allowed = countAllowed();
  if (allowed == 0)
    allowed = static_cast<unsigned>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  return std::max(smaller(allowed, findQuota()), 1u);
}
