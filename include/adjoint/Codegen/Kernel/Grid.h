// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What kernels for GPUs and the host programs that launch them agree on.

#ifndef ADJOINT_CODEGEN_KERNEL_GRID_H
#define ADJOINT_CODEGEN_KERNEL_GRID_H

#include "adjoint/Codegen/Target/Chips.h"

namespace mlir::ad::device {

/// The maximum number of threads of a block, unless the kernel requests another one; a launch may have fewer,
/// and any number of blocks.
constexpr int64_t kBlockThreads = 256;
/// The maximum of a launch: kernels give the same bits for any grid.
constexpr int64_t kMaxBlocks = 65535;

} // namespace mlir::ad::device

#endif // ADJOINT_CODEGEN_KERNEL_GRID_H
