/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   How many CPUs this process may use. */
#ifndef ADJOINT_RUNTIME_HOST_CPUCOUNT_H
#define ADJOINT_RUNTIME_HOST_CPUCOUNT_H

#include <string>

namespace adrt {

/// The CPUs that the system lets this process run on (sched_getaffinity), at most the CPU quota of its
/// control groups, rounded up; at least 1. Looked up at each call: both may change.
unsigned countCPUs();

/// The CPU quota of this process's control groups and all above them, of version 2 (cpu.max) or 1
/// (cpu.cfs_quota_us), in whole CPUs, rounded up; 0 without one. Files are read below `root`: for
/// tests, which have their own /proc and /sys.
unsigned findQuota(const std::string &root = "");

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_CPUCOUNT_H
