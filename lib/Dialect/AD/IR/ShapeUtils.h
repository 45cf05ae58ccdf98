// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the verifiers and size computations of the tensor families share: axis lists, static sizes, index
// arithmetic.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_SHAPEUTILS_H
#define ADJOINT_LIB_DIALECT_AD_IR_SHAPEUTILS_H

#include "Attributes/TypeDirectives.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace mlir::ad {
/// Makes a diagnostic; verifiers and type inference report in different ways.
using EmitError = function_ref<InFlightDiagnostic()>;

/// An error of type inference, worded like those of verifiers; silent without a location.
InFlightDiagnostic inferenceError(std::optional<Location> location, StringRef operation);

/// Whether two sizes can be the same at run time.
inline bool maySizesAgree(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs) || lhs == rhs;
}

/// The size that follows when both are known to agree.
inline int64_t commonSize(int64_t lhs, int64_t rhs) { return ShapedType::isDynamic(lhs) ? rhs : lhs; }

/// Number of elements; none when a size is dynamic or the product exceeds 64 bits.
std::optional<int64_t> countElements(ArrayRef<int64_t> shape);

/// Axes in [0, rank), ascending and unique.
LogicalResult verifyAxes(ArrayRef<int64_t> axes, int64_t rank, EmitError emitError);

/// One axis in [0, rank).
LogicalResult verifyAxis(int64_t axis, int64_t rank, EmitError emitError);

/// "2x?x3" for diagnostics; rank 0 gives "()".
std::string shapeToString(ArrayRef<int64_t> shape);

/// Whether a sum or contraction of `operand` elements may have `result` elements: the same or the
/// accumulator's.
bool isOperandOrAccumulator(Type operand, Type result);

/// The form that interfaces of sizes demand: attributes for static dimensions of `type`, index values for
/// dynamic ones.
SmallVector<OpFoldResult> normalizeSizes(OpBuilder &builder, Location loc, RankedTensorType type,
                                         ArrayRef<OpFoldResult> sizes);

/// Sizes of a result that has the sizes of `tensor`'s dimensions `source`, in that order.
SmallVector<OpFoldResult> selectSizes(OpBuilder &builder, Location loc, Value tensor,
                                      ArrayRef<int64_t> source);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_SHAPEUTILS_H
