// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Launches of kernels on the CPU: a call over all units of work, or a parallel loop over ranges of them on
// the threads of the context. A kernel without loops is inlined into a loop that launches it: small carries
// then stay in registers instead of being stored and loaded around a call.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_CPULAUNCHES_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_CPULAUNCHES_H

#include "../BufferAddresses.h"
#include "KernelClosures.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"

namespace mlir::ad::host {

struct CPULaunch {
  LaunchOp op;
  func::FuncOp kernel;
  SmallVector<Value> operands;
  Value units;

  bool hasOneUnit() const;
  int64_t nanoseconds() const; ///< of a kernel that states them
};

class CPULaunches : public HostComponent {
public:
  CPULaunches(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers, KernelClosures &closures)
      : HostComponent(entry), values(values), buffers(buffers), closures(closures) {}

  /// The launch with the number of units that it has, an index.
  CPULaunch prepare(LaunchOp op, func::FuncOp kernel, SmallVector<Value> operands);
  /// Runs the kernel, or computes partial results of its reductions in parallel and merges them.
  void emit(const CPULaunch &launch);
  /// All units of the kernel, on threads if there are several.
  void runUnits(const CPULaunch &launch);
  /// About how long the kernel takes on one thread.
  Value nanosecondsOf(func::FuncOp kernel, ArrayRef<Value> operands);

private:
  Value runPartialReductions(const CPULaunch &launch, Value nanoseconds);
  Value unitsOf(LaunchOp op, func::FuncOp kernel);
  Value unitsAround(const UnitSpace &space, const HostTensor &result);
  void runOnThreads(func::FuncOp kernel, ArrayRef<Value> operands, Value units, Value nanoseconds);
  void runOnThisThread(const CPULaunch &launch);

  HostValues &values;
  BufferAddresses &buffers;
  KernelClosures &closures;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_CPULAUNCHES_H
