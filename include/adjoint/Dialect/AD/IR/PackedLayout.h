// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How matrices lie that contractions read in the order of their tiles.

#ifndef ADJOINT_DIALECT_AD_IR_PACKEDLAYOUT_H
#define ADJOINT_DIALECT_AD_IR_PACKEDLAYOUT_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace mlir::ad {

/// A matrix in panels of `tile` columns, each with the contracted axis outside and the columns inside:
/// element (depth, column) lies at [column / tile, depth, column % tile], or, in groups of g neighbours along
/// the depth, at [column / tile, depth / g, column % tile, depth % g]. Columns behind the last are undefined.
struct PackedLayout {
  int64_t tile;
  int64_t group; ///< 1: no groups; else it divides the depth

  AffineMap map(unsigned loops, unsigned columnLoop, unsigned depthLoop, MLIRContext *context) const;
  RankedTensorType type(int64_t depth, int64_t columns, Type element) const;
  /// The layout that the map between loops of these static sizes and an operand of this type says; none for
  /// other maps, and where map and type do not fit.
  static std::optional<PackedLayout> match(AffineMap map, RankedTensorType type, ArrayRef<int64_t> loopSizes,
                                           unsigned columnLoop, unsigned depthLoop);
};

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_PACKEDLAYOUT_H
