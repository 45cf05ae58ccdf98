// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How a kernel is launched: the parameters of #ad.launch_config, which documents them.

#ifndef ADJOINT_CODEGEN_KERNEL_LAUNCHSHAPE_H
#define ADJOINT_CODEGEN_KERNEL_LAUNCHSHAPE_H

#include "adjoint/Codegen/Kernel/Grid.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"

namespace mlir::ad::device {

struct LaunchShape {
  MappingLevel level = MappingLevel::thread;
  int64_t result = 0, axes = 0;
  int64_t gridSize = 0;
  int64_t persistentBlocks = 0;
  int64_t clusterSize = 1;
  int64_t threadsPerBlock = kBlockThreads;
  int64_t dynamicSharedBytes = 0;
  SmallVector<TensorMapAttr> tensorMaps = {};
  int64_t elements = 1;
  int64_t threadsPerElement = 1;
  SmallVector<int64_t> tile = {};
};

} // namespace mlir::ad::device

#endif // ADJOINT_CODEGEN_KERNEL_LAUNCHSHAPE_H
