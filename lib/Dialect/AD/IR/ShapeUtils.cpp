// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Axis lists, static sizes and index arithmetic of the tensor families.

#include "ShapeUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

InFlightDiagnostic ad::inferenceError(std::optional<Location> location, StringRef operation) {
  if (!location)
    return InFlightDiagnostic();
  InFlightDiagnostic diagnostic = emitError(*location);
  diagnostic << "'" << operation << "' op ";
  return diagnostic;
}

std::optional<int64_t> ad::countElements(ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return std::nullopt;
  // A size of 0 wins over an overflow of the others.
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

LogicalResult ad::verifyAxis(int64_t axis, int64_t rank, EmitError emitError) {
  if (axis >= 0 && axis < rank)
    return success();
  if (rank == 0)
    return emitError() << "expected an operand of rank 1 or more, but its rank is 0";
  return emitError() << "expected an axis from 0 to " << rank - 1 << ", but got " << axis;
}

LogicalResult ad::verifyAxes(ArrayRef<int64_t> axes, int64_t rank, EmitError emitError) {
  for (auto [index, axis] : llvm::enumerate(axes)) {
    if (failed(verifyAxis(axis, rank, emitError)))
      return failure();
    if (index != 0 && axes[index - 1] >= axis)
      return emitError() << "expected ascending axes without repetition, but got " << axes[index - 1]
                         << " before " << axis;
  }
  return success();
}

std::string ad::shapeToString(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "()";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      shape, stream,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          stream << "?";
        else
          stream << size;
      },
      "x");
  return text;
}

bool ad::isOperandOrAccumulator(Type operand, Type result) {
  return result == operand || result == accumulatorType(operand);
}

SmallVector<OpFoldResult> ad::normalizeSizes(OpBuilder &builder, Location loc, RankedTensorType type,
                                             ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> normalized;
  for (auto [size, known] : llvm::zip_equal(sizes, type.getShape())) {
    if (!ShapedType::isDynamic(known))
      normalized.push_back(builder.getIndexAttr(known));
    else
      normalized.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  }
  return normalized;
}

SmallVector<OpFoldResult> ad::selectSizes(OpBuilder &builder, Location loc, Value tensor,
                                          ArrayRef<int64_t> source) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dimension : source)
    sizes.push_back(sizeOf(builder, loc, tensor, dimension));
  return sizes;
}

OpFoldResult ad::addSizes(OpBuilder &builder, Location loc, OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return builder.getIndexAttr(*left + *right);
  if (left == 0)
    return rhs;
  if (right == 0)
    return lhs;
  Value a = getValueOrCreateConstantIndexOp(builder, loc, lhs),
        b = getValueOrCreateConstantIndexOp(builder, loc, rhs);
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

OpFoldResult ad::mulSizes(OpBuilder &builder, Location loc, OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return builder.getIndexAttr(*left * *right);
  if (left == 1)
    return rhs;
  if (right == 1)
    return lhs;
  Value a = getValueOrCreateConstantIndexOp(builder, loc, lhs),
        b = getValueOrCreateConstantIndexOp(builder, loc, rhs);
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}
