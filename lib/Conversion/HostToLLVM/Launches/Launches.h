// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// `ad.launch`: the buffers of the results, the operands of the kernel, and a launch on the CPU or on a
// device.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_LAUNCHES_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_LAUNCHES_H

#include "../Control/StopPolls.h"
#include "../TensorCopies.h"
#include "DeviceLaunches.h"
#include "LaunchGroups.h"

namespace mlir::ad::host {

class Launches : public HostComponent {
public:
  Launches(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers, TensorCopies &copies,
           TensorDescriptors &descriptors, StopPolls &polls)
      : HostComponent(entry), values(values), buffers(buffers), copies(copies), polls(polls), closures(entry),
        onCPU(entry, values, buffers, closures), groups(entry, values, buffers, closures, onCPU),
        onDevice(entry, values, buffers, descriptors, closures) {}

  /// Requests the properties of the device.
  void bindDevice() { onDevice.bind(); }
  void emit(LaunchOp launch);
  /// Emits the launches that wait in a group if an operation that is no launch may depend on them.
  void flushBeforeOther(Operation &op) { groups.flushBeforeOther(op); }

private:
  SmallVector<Value> operandsOf(LaunchOp launch);
  void emitOnCPU(LaunchOp launch, func::FuncOp kernel, SmallVector<Value> operands);

  HostValues &values;
  BufferAddresses &buffers;
  TensorCopies &copies;
  StopPolls &polls;
  KernelClosures closures;
  CPULaunches onCPU;
  LaunchGroups groups;
  DeviceLaunches onDevice;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_LAUNCHES_H
