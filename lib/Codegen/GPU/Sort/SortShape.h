// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How a kernel sorts lines: the sizes of tiles, and the launches.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SORT_SORTSHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_SORT_SORTSHAPE_H

#include "adjoint/Codegen/Kernel/LaunchShape.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"

namespace mlir::ad::device {

/// Numbers of elements in a line have 32 bits, and sums of two of them, too.
constexpr int64_t kFirstTooLong = int64_t(1) << 31;
/// Items that a few threads sort in their registers: above that, a network takes more instructions than
/// merges in shared memory.
constexpr int64_t kRegisterRun = 64;

/// How lines are sorted. All numbers of items are powers of two.
struct SortShape {
  SortShape(ArgsortOp sort);

  Type element;
  bool descending;
  SmallVector<int64_t> shape;
  int64_t tile; ///< items that a block sorts, and merges
  int64_t length() const { return shape.back(); }
  /// Whether a line may have several tiles.
  bool mayMerge() const { return ShapedType::isDynamic(length()) || length() > tile; }
  /// Places of a tile that a line has at least, a power of two; 0 if its length is open.
  int64_t placesOfLine() const;
  /// Whether a tile may have several lines.
  bool mayShareTile() const { return placesOfLine() < tile; }
  /// Items that threads sort in their registers, at most those of a line.
  int64_t registerRun() const;
  LaunchShape tilesLaunch() const;
  LaunchShape mergeLaunch() const;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SORT_SORTSHAPE_H
