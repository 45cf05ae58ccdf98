// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The layout of matrices that are packed in the order in which tiles of a contraction read them.

#ifndef ADJOINT_DIALECT_AD_IR_PACKEDLAYOUT_H
#define ADJOINT_DIALECT_AD_IR_PACKEDLAYOUT_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace mlir::ad {

/// A matrix in panels of `tile` columns. K is the outer dimension of a panel, its columns are contiguous:
/// element (k, column) is at [column / tile, k, column % tile]. With groups of g elements that are contiguous
/// along K, it is at [column / tile, k / g, column % tile, k % g]. Columns after the last are undefined.
struct PackedLayout {
  int64_t tile;
  int64_t group; ///< contiguous elements along K; divides the size of K

  AffineMap map(unsigned loops, unsigned columnLoop, unsigned loopK, MLIRContext *context) const;
  RankedTensorType type(int64_t sizeK, int64_t columns, Type element) const;
  /// The layout of an operand of this type that loops of these static sizes access by the map; none if the
  /// map is not that of a packed layout, or does not fit the type.
  static std::optional<PackedLayout> match(AffineMap map, RankedTensorType type, ArrayRef<int64_t> loopSizes,
                                           unsigned columnLoop, unsigned loopK);
};

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_PACKEDLAYOUT_H
