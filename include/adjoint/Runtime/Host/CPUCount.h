/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   How many CPUs this process may use. */
#ifndef ADJOINT_RUNTIME_HOST_CPUCOUNT_H
#define ADJOINT_RUNTIME_HOST_CPUCOUNT_H

#include <string>

namespace adrt {

/// The number of CPUs of the affinity mask of this process (sched_getaffinity), at most the CPU quota of its
/// control groups rounded up, and at least 1. Read at each call: both may change.
unsigned countCPUs();

/// The minimum CPU quota of the control groups of this process and of their ancestors, of version 2 (cpu.max)
/// or 1 (cpu.cfs_quota_us), in whole CPUs, rounded up; 0 without a quota. Files are read below `root`: tests
/// have their own /proc and /sys.
unsigned findQuota(const std::string &root = "");

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_CPUCOUNT_H
