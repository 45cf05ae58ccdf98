// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What kernels for GPUs and the host programs that launch them agree on.

#ifndef ADJOINT_CODEGEN_KERNEL_GRID_H
#define ADJOINT_CODEGEN_KERNEL_GRID_H

#include <cstdint>

namespace mlir::ad::device {

/// Threads of a warp, which agree by shuffles. Blocks consist of whole warps.
constexpr int64_t kWarpThreads = 32;
/// The maximum number of threads of a block, unless the kernel requests another one; a launch may have fewer,
/// and any number of blocks.
constexpr int64_t kBlockThreads = 256;
/// The maximum of a launch: kernels give the same bits for any grid.
constexpr int64_t kMaxBlocks = 65535;

/// Bytes of a tensor map, which is aligned to 64 of them.
constexpr int64_t kTensorMapBytes = 128, kTensorMapAlignment = 64;

} // namespace mlir::ad::device

#endif // ADJOINT_CODEGEN_KERNEL_GRID_H
