/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Release and acquire: the happens-before order that atomics, fences and barriers establish between threads.
 */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_MEMORYORDER_H
#define ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_MEMORYORDER_H

#include "../State/Worker.h"

namespace adsim {

/// Called after the clock of `self` has been published: later accesses of `self` are not ordered before the
/// acquire.
void release(Thread &self);
/// Orders everything in the given clocks before the next access of `self`.
void acquire(Thread &self, const VectorClock &genericClock, const VectorClock &asyncClock,
             const ClusterClocks &clusterClocks);
ClusterClocks joinClusterClocks(const ClusterClocks &a, const ClusterClocks &b);

/// The release and acquire of an atomic access with these AccessFlags.
void synchronizeAtomic(Thread &self, const void *pointer, uint32_t flags);

/// Collects the clocks of all threads of a group, which each of them acquires afterwards.
struct Exchange {
  ClockCollector genericClock, asyncClock;
  ClusterClocks clusterClocks;
  void add(const Thread &thread);
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_MEMORYORDER_H
