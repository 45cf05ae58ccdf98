// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Short helpers with which derivative rules, decompositions and tests build `ad` operations.

#ifndef ADJOINT_DIALECT_AD_IR_ADBUILDERS_H
#define ADJOINT_DIALECT_AD_IR_ADBUILDERS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {
/// Index values of the dynamic dimensions of `tensor`, in order; folds where the size follows from an
/// operation.
SmallVector<Value> dynamicSizes(OpBuilder &builder, Location loc, Value tensor);

/// A rank-0 constant of `element`, rounded to nearest even from `value`.
Value scalarConstant(OpBuilder &builder, Location loc, Type element, double value);

/// The same of an integer type. A double does not hold every i64.
Value integerConstant(OpBuilder &builder, Location loc, Type element, int64_t value);

/// A tensor with the sizes of `like` and one value everywhere, or a constant if `like` is a scalar or vector.
/// Its element type is `element`, or that of `like`.
Value fullLike(OpBuilder &builder, Location loc, Value like, double value, Type element = {});
inline Value zerosLike(OpBuilder &builder, Location loc, Value like, Type element = {}) {
  return fullLike(builder, loc, like, 0.0, element);
}

/// `value` broadcast to the shape of `like`; the element type stays. Nothing is built when the shapes are
/// equal and static.
Value broadcastLike(OpBuilder &builder, Location loc, Value value, Value like);

/// `value` summed to the shape of `like` (adjoint of a broadcast). Nothing is built when the shapes are equal
/// and static.
Value sumToShapeOf(OpBuilder &builder, Location loc, Value value, Value like);

/// `value` reshaped to the shape of `like`.
Value reshapeLike(OpBuilder &builder, Location loc, Value value, Value like);

/// `value` reshaped to `type`, whose dynamic sizes are `sizes`.
Value reshapeTo(OpBuilder &builder, Location loc, Value value, Type type, ValueRange sizes);

/// `value`, a tensor, vector or scalar, cast to `element`; the value itself when it has that type.
Value castTo(OpBuilder &builder, Location loc, Value value, Type element);

/// Gives a contraction the instruction that the program wrote on the one that it replaces. Both
/// add the same products in the same order.
void keepInstruction(Operation *from, Operation *to);

/// The broadcast shape of several operands (NumPy rules; `?` with 1 or `?` gives `?`, `?` with n > 1 gives
/// n). Fails when two static sizes do not broadcast; `conflict` is then the dimension, counted in the result.
FailureOr<SmallVector<int64_t>> inferBroadcastShape(ValueRange operands, int64_t *conflict = nullptr);
FailureOr<SmallVector<int64_t>> inferBroadcastShape(ArrayRef<ArrayRef<int64_t>> shapes,
                                                    int64_t *conflict = nullptr);

/// "dimension 1 has sizes 3 and 4": the text of a diagnostic about shapes that do not broadcast at
/// `conflict`.
std::string describeBroadcastConflict(ArrayRef<ArrayRef<int64_t>> shapes, int64_t conflict);

/// The size of one dimension: an attribute when it is static, else an index value that exists already or a
/// `tensor.dim` of the earliest tensor known to have that size.
OpFoldResult sizeOf(OpBuilder &builder, Location loc, Value tensor, int64_t dimension);

/// The size of one dimension: an index value where the type leaves it open, also if the number is known.
/// Types of results follow from types, and a pass that comes to know a number must not change them.
OpFoldResult sizeByType(OpBuilder &builder, Location loc, Value tensor, int64_t dimension);

/// Index arithmetic that folds constants.
OpFoldResult addSizes(OpBuilder &builder, Location loc, OpFoldResult lhs, OpFoldResult rhs);
OpFoldResult mulSizes(OpBuilder &builder, Location loc, OpFoldResult lhs, OpFoldResult rhs);

/// Whether two dimensions have the same size at run time for sure, judged from types and from where sizes
/// come from.
bool haveSameSize(Value lhs, int64_t lhsDimension, Value rhs, int64_t rhsDimension);

/// Whether two tensors have the same shape at run time for sure, judged from types and from where sizes come
/// from.
bool haveSameShape(Value lhs, Value rhs);

/// The run-time shape of a tensor type whose dynamic sizes are index operands, in the order of the `?`.
SmallVector<OpFoldResult> mixedSizes(OpBuilder &builder, RankedTensorType type, ValueRange sizes);

/// One index operand per `?`: the check that every operation with `sizes` shares.
LogicalResult verifySizes(Operation *op, RankedTensorType type, ValueRange sizes);

/// Run-time sizes of the broadcast of several operands: one value or attribute per dimension.
SmallVector<OpFoldResult> reifyBroadcastShape(OpBuilder &builder, Location loc, ValueRange operands);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_ADBUILDERS_H
