// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What ad.dot and ad.scaled_dot share: the lists of axes with their assembly, shapes and orders.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_DOTAXES_H
#define ADJOINT_LIB_DIALECT_AD_IR_DOTAXES_H

#include "ShapeUtils.h"

namespace mlir::ad {
/// The four lists of a contraction.
struct DotAxes {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;

  template <typename OpT> static DotAxes of(OpT op) {
    return {llvm::to_vector(op.getLhsBatch()), llvm::to_vector(op.getRhsBatch()),
            llvm::to_vector(op.getLhsContract()), llvm::to_vector(op.getRhsContract())};
  }

  bool operator==(const DotAxes &other) const {
    return lhsBatch == other.lhsBatch && rhsBatch == other.rhsBatch && lhsContract == other.lhsContract &&
           rhsContract == other.rhsContract;
  }

  /// The axes of NumPy's matmul. A stack of matrices meets one matrix or vector, or a stack of the same rank;
  /// none where NumPy would repeat the left operand or there is nothing to contract.
  static std::optional<DotAxes> ofMatmul(int64_t lhsRank, int64_t rhsRank);

  /// `batch [..] x [..] contract [..] x [..]`, each if it is present; `written` says whether one was.
  ParseResult parse(OpAsmParser &parser, bool &written);
  /// The lists, unless they are those of matmul.
  void print(OpAsmPrinter &printer, int64_t lhsRank, int64_t rhsRank) const;
  /// Replaces the lists by the axes of matmul for the ranks of the types.
  ParseResult resolveMatmul(OpAsmParser &parser, SMLoc loc, TypeRange types);
};

/// Axes that are in neither list, ascending.
SmallVector<int64_t> freeAxes(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract);

/// The shape of the result, after all checks of axes and sizes.
FailureOr<SmallVector<int64_t>> inferDotShape(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs,
                                              const DotAxes &axes, EmitError error);

/// The sizes of the result at run time.
SmallVector<OpFoldResult> sizesOfDot(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                                     const DotAxes &axes);

/// In lanes if no operand has a free axis, else in blocks.
OrderAttr canonicalOrderOfDot(RankedTensorType lhs, RankedTensorType rhs, const DotAxes &axes);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_DOTAXES_H
