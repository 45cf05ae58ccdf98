// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How operations such as ad.gather relate the axes of a tensor, of the indices into it, and of what is read
// or written there.

#ifndef ADJOINT_DIALECT_AD_IR_INDEXEDACCESS_H
#define ADJOINT_DIALECT_AD_IR_INDEXEDACCESS_H

#include "adjoint/Interfaces/ElementAccess.h"
#include "adjoint/Interfaces/Enums.h"
#include "llvm/ADT/APFloat.h"

namespace mlir::ad {

/// The lists of ad.gather and ad.scatter; `part` is the result of the one, the update of the other.
struct IndexedAccess {
  SmallVector<int64_t> axes;              ///< of the tensor, one for each tensor of indices, ascending
  SmallVector<int64_t> batch, indexBatch; ///< axes of the tensor and of the indices that are one of the part
  SmallVector<int64_t> slices;            ///< axes of the part that are the tensor's other ones, ascending
  int64_t rank = 0;                       ///< of the tensor
  int64_t indexRank = 0;

  int64_t partRank() const { return indexRank + slices.size(); }
  /// The axes of the part that the axes of the indices are.
  SmallVector<int64_t> partAxesOfIndices() const;
  /// The axes of the tensor that are slices.
  SmallVector<int64_t> slicedAxes() const;
  /// The axes of the tensor that no index chooses.
  SmallVector<unsigned> wholeAxes() const;

  /// From the axes of the part to those of the tensor, whose indices are symbols, and to those of the
  /// indices.
  AffineMap tensorMap(MLIRContext *context) const;
  AffineMap indexMap(MLIRContext *context) const;
};

/// The accesses of an operation that reads one element of its first operand for each element of its result;
/// the other operands are the indices.
SmallVector<ElementAccess> accessesOfLookup(Operation *op, const IndexedAccess &access, Outside outside,
                                            const APFloat &fill);

/// The sizes of its result.
SmallVector<OpFoldResult> sizesOfLookup(Operation *op, const IndexedAccess &access, OpBuilder &builder);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_INDEXEDACCESS_H
