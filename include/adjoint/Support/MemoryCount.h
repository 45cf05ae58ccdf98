/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   How much memory there is. */
#ifndef ADJOINT_SUPPORT_MEMORYCOUNT_H
#define ADJOINT_SUPPORT_MEMORYCOUNT_H

#include <cstdint>
#include <string>

namespace adrt {

/// Bytes of a memory; negative where they are unknown.
struct MemoryCount {
  int64_t free = -1, total = -1;

  /// "F of T bytes are free", or nothing if that is unknown.
  std::string text() const;
};

/// The memory that this process may use without that the system ends a process: of the machine, with its swap
/// space, and at most the limits of its control groups and of its addresses (ulimit -v). Files are read below
/// `root`: tests have their own /proc and /sys.
MemoryCount countHostMemory(const std::string &root = "");

} // namespace adrt

#endif // ADJOINT_SUPPORT_MEMORYCOUNT_H
