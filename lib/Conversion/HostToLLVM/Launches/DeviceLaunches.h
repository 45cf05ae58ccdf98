// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Launches of kernels on a device, by number. A kernel whose reductions a grid computes in parts (decision
// 0018) is two launches: the first one writes nodes of the order's tree to memory of the runtime, the second
// one joins them. A kernel that sorts long lines is a launch that sorts tiles, and others that merge their
// runs. Other kernels of several launches name their stages (LaunchStages.h).

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_DEVICELAUNCHES_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_DEVICELAUNCHES_H

#include "../BufferAddresses.h"
#include "../TensorDescriptors.h"
#include "DeviceGrid.h"
#include "KernelClosures.h"

namespace mlir::ad::host {

class DeviceLaunches : public HostComponent {
public:
  DeviceLaunches(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers,
                 TensorDescriptors &descriptors, KernelClosures &closures)
      : HostComponent(entry), values(values), buffers(buffers), descriptors(descriptors), closures(closures),
        grid(entry, values) {}

  void bind() { grid.bind(); }
  void emit(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands);

private:
  void emitWhole(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands);
  void emitDivided(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands);
  void emitSort(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands);
  void emitStages(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands);
  void emitNodes(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands, ValueRange sizes);
  void emitOnGrid(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands, Value grid);
  SmallVector<Value> tensorMaps(LaunchOp launch, LaunchConfigAttr config);

  HostValues &values;
  BufferAddresses &buffers;
  TensorDescriptors &descriptors;
  KernelClosures &closures;
  DeviceGrid grid;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_DEVICELAUNCHES_H
