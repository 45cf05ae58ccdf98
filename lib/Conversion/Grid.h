// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What kernels for GPUs and the host programs that launch them agree on.

#ifndef ADJOINT_LIB_CONVERSION_GRID_H
#define ADJOINT_LIB_CONVERSION_GRID_H

#include <cstdint>

namespace mlir::ad::device {

/// Threads of a warp, which agree by shuffles. Blocks consist of whole warps.
constexpr int64_t kWarpThreads = 32;
/// The most threads of a block; a launch may take fewer, and any number of blocks.
constexpr int64_t kBlockThreads = 256;

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CONVERSION_GRID_H
