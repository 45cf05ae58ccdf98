// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The grid of a launch on a device: how many blocks, and threads per block, from `#ad.launch_config`, the
// sizes of the results and the number of multiprocessors. Kernels compute the same bits for any grid.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_DEVICEGRID_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_DEVICEGRID_H

#include "../HostValues.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::host {

class DeviceGrid : public HostComponent {
public:
  DeviceGrid(EntryBuilder &entry, HostValues &values) : HostComponent(entry), values(values) {}

  /// Requests the number of multiprocessors.
  void bind();
  Value multiprocessors() const { return smCount; }
  /// Address of the adrt_grid of a launch.
  Value of(LaunchOp launch, LaunchConfigAttr config);
  Value ofThreads(LaunchConfigAttr config, Value threads);
  Value ofBlocks(LaunchConfigAttr config, Value blocks);

private:
  Value tileCount(LaunchOp launch, LaunchConfigAttr config);
  std::pair<Value, Value> blocksAndThreads(LaunchConfigAttr config, Value threads);
  Value persistentClusters(int64_t persistent, int64_t cluster);
  Value countedBlocks(LaunchOp launch, LaunchConfigAttr config);
  Value create(Value blocks, Value threads, int64_t sharedBytes);

  HostValues &values;
  Value smCount;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_DEVICEGRID_H
