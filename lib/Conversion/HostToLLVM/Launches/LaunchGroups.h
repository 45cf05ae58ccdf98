// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups of CPU launches: kernels that follow each other, do not depend on each other and are each too short,
// or have too few units, for several threads. A launch waits until an operation comes that may depend on it.
// Then all waiting launches become one parallel loop of the runtime, whose threads share the kernels.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_LAUNCHGROUPS_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_LAUNCHGROUPS_H

#include "CPULaunches.h"

namespace mlir::ad::host {

class LaunchGroups : public HostComponent {
public:
  LaunchGroups(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers, KernelClosures &closures,
               CPULaunches &launches)
      : HostComponent(entry), values(values), buffers(buffers), closures(closures), launches(launches) {}

  /// Whether the launch waits in a group.
  bool accepts(const CPULaunch &launch) const;
  void add(CPULaunch launch);
  /// Emits the waiting launches.
  void flush();
  /// Emits them if the launch may depend on them.
  void flushBefore(LaunchOp launch);
  /// Emits them if an operation that is no launch may depend on them.
  void flushBeforeOther(Operation &op);

private:
  SmallVector<BufferAttr> buffersOf(ValueRange tensors) const;
  bool dependsOnGroup(LaunchOp launch) const;
  void emitAsOneLoop(ArrayRef<CPULaunch> group);

  HostValues &values;
  BufferAddresses &buffers;
  KernelClosures &closures;
  CPULaunches &launches;
  SmallVector<CPULaunch> waiting; // their code is not emitted yet
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_LAUNCHGROUPS_H
