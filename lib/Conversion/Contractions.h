// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a contraction in linalg says about itself, and how operands lie that were packed before its kernel
// runs.

#ifndef ADJOINT_LIB_CONVERSION_CONTRACTIONS_H
#define ADJOINT_LIB_CONVERSION_CONTRACTIONS_H

#include "adjoint/Conversion/Tiles.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad {

/// On the linalg.generic of a contraction: the operation has the permission mma. (The kernel has only the
/// permissions that all its operations share.)
inline constexpr llvm::StringLiteral kMmaAttr = "ad.mma";

/// What AVX512_BF16's vdpbf16ps works on: lanes of f32.
inline constexpr int64_t kDotProductLanes = 16;

/// Whether a processor with dot products of bf16 pairs uses them for this contraction, which sums in `order`.
/// Decided by the operation and its shape alone, so that a program computes the same fused and unfused.
bool sumsPairs(linalg::GenericOp contraction, OrderAttr order);

/// Rows and vectors of `lanes` of a result that stay in registers over the whole reduction.
struct RegisterTile {
  int64_t rows, vectors;
};
RegisterTile chooseRegisterTile(const TileTable &table, int64_t rows, int64_t columns, int64_t lanes);

/// A matrix in panels of `tile` columns, each with the contracted axis outside and the columns inside:
/// element (depth, column) lies at [column / tile, depth, column % tile], or, in pairs, at [column / tile,
/// depth / 2, column % tile, depth % 2]. The columns behind the last one are undefined.
struct PackedLayout {
  int64_t tile;
  bool pairs;

  AffineMap map(unsigned loops, unsigned columnLoop, unsigned depthLoop, MLIRContext *context) const;
  RankedTensorType type(int64_t depth, int64_t columns, Type element) const;
  /// The layout that a map between these loops and an operand says; none for other maps.
  static std::optional<PackedLayout> match(AffineMap map, unsigned columnLoop, unsigned depthLoop);
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_CONTRACTIONS_H
