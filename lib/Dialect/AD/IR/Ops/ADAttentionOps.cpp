// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Attention: constraints, type inference and sizes. A label such as attention_c3 is C3 of ad.attention in
// docs/spec/attention.md.

#include "adjoint/Dialect/AD/IR/ADAttentionOps.h"
#include "../ShapeUtils.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr int64_t kRank = 4;

namespace {
// The types that attention and its derivative have in common.
struct AttentionTypes {
  RankedTensorType query, key, value, mask; // mask: null without one
};
} // namespace

//===- Constraints -===//

static LogicalResult verifyRanks(const AttentionTypes &types, EmitError error) {
  for (RankedTensorType type : {types.query, types.key, types.value})
    if (type.getRank() != kRank || type.getElementType() != types.query.getElementType() ||
        !isa<FloatType>(type.getElementType())) // attention_c1
      return error() << "expected query, key and value of rank 4 with one type of floats, but got "
                     << types.query << ", " << types.key << " and " << types.value;
  return success();
}

static LogicalResult verifyAgree(RankedTensorType lhs, int64_t lhsAxis, RankedTensorType rhs, int64_t rhsAxis,
                                 StringRef what, EmitError error) {
  int64_t a = lhs.getDimSize(lhsAxis), b = rhs.getDimSize(rhsAxis);
  if (!maySizesAgree(a, b)) // attention_c2
    return error() << "expected one number of " << what << ", but got " << a << " in " << lhs << " and " << b
                   << " in " << rhs;
  return success();
}

static LogicalResult verifySizes(const AttentionTypes &types, EmitError error) {
  return success(
      succeeded(verifyAgree(types.query, 0, types.key, 0, "batches", error)) &&
      succeeded(verifyAgree(types.query, 0, types.value, 0, "batches", error)) &&
      succeeded(verifyAgree(types.key, 1, types.value, 1, "heads of keys and values", error)) &&
      succeeded(verifyAgree(types.key, 2, types.value, 2, "keys and values", error)) &&
      succeeded(verifyAgree(types.query, 3, types.key, 3, "elements of a query and a key", error)));
}

static LogicalResult verifyHeads(const AttentionTypes &types, EmitError error) {
  auto [query, key, value, mask] = types;
  int64_t heads = query.getDimSize(1), groups = key.getDimSize(1);
  for (int64_t size :
       {heads, groups, value.getDimSize(1), query.getDimSize(3), key.getDimSize(3), value.getDimSize(3)})
    if (ShapedType::isDynamic(size) || size == 0) // attention_c3
      return error()
             << "expected static numbers of heads, and of elements of a query, key and value, of at least 1, "
             << "but got " << query << ", " << key << " and " << value;
  if (heads % groups != 0) // attention_c3
    return error() << "expected the heads of the query to be a multiple of those of the key, but got "
                   << heads << " and " << groups;
  return success();
}

static LogicalResult verifyMask(const AttentionTypes &types, EmitError error) {
  RankedTensorType mask = types.mask;
  if (!mask)
    return success();
  int64_t sizes[] = {types.query.getDimSize(0), types.query.getDimSize(1), types.query.getDimSize(2),
                     types.key.getDimSize(2)};
  bool fits = mask.getRank() == kRank &&
              (mask.getElementType().isInteger(1) || mask.getElementType() == types.query.getElementType());
  for (int64_t axis = 0; fits && axis < kRank; ++axis)
    fits = mask.getDimSize(axis) == 1 || maySizesAgree(mask.getDimSize(axis), sizes[axis]);
  if (!fits) // attention_c4
    return error() << "expected a mask of i1 or " << types.query.getElementType() << " with the sizes "
                   << shapeToString(sizes) << ", or 1 in their place, but got " << mask;
  return success();
}

template <typename Adaptor>
static LogicalResult verifyNumbers(Adaptor op, Type accumulator, EmitError error) {
  if (op.getWindow() && static_cast<int64_t>(*op.getWindow()) < 1) // attention_c5
    return error() << "expected a window of at least 1, but got " << static_cast<int64_t>(*op.getWindow());
  if (op.getChunk() && static_cast<int64_t>(*op.getChunk()) < 1) // attention_c5
    return error() << "expected a chunk of at least 1, but got " << static_cast<int64_t>(*op.getChunk());
  const llvm::fltSemantics &semantics = cast<FloatType>(accumulator).getFloatSemantics();
  auto rounded = [&](APFloat number) {
    bool loses = false;
    number.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
    return number;
  };
  std::optional<APFloat> scale = op.getScale(), cap = op.getSoftcap();
  if (scale && !rounded(*scale).isFinite()) // attention_c5
    return error() << "expected a scale that is finite in " << accumulator << ", but got "
                   << scale->convertToDouble();
  if (cap && (!rounded(*cap).isFinite() || cap->isNegative() || rounded(*cap).isZero())) // attention_c5
    return error() << "expected a softcap above 0 that is finite in " << accumulator << ", but got "
                   << cap->convertToDouble();
  return success();
}

/// The types, if they satisfy the constraints that both operations have.
template <typename Adaptor> static FailureOr<AttentionTypes> verifiedTypes(Adaptor op, EmitError error) {
  AttentionTypes types;
  for (auto [type, value] : {std::pair(&types.query, op.getQuery()), std::pair(&types.key, op.getKey()),
                             std::pair(&types.value, op.getValue()), std::pair(&types.mask, op.getMask())})
    if (value && !(*type = dyn_cast<RankedTensorType>(value.getType())))
      return error() << "expected ranked tensors, but got " << value.getType(), failure();
  if (failed(verifyRanks(types, error)) || failed(verifySizes(types, error)) ||
      failed(verifyHeads(types, error)) || failed(verifyMask(types, error)) ||
      failed(verifyNumbers(op, accumulatorType(types.query.getElementType()), error)))
    return failure();
  return types;
}

//===- ad.attention -===//

static RankedTensorType resultType(const AttentionTypes &types) {
  ArrayRef<int64_t> query = types.query.getShape();
  return types.query.clone({query[0], query[1], query[2], types.value.getDimSize(3)});
}

static RankedTensorType logSumType(const AttentionTypes &types) {
  return RankedTensorType::get(types.query.getShape().drop_back(),
                               accumulatorType(types.query.getElementType()));
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto types = verifiedTypes(adaptor, [&] { return inferenceError(location, getOperationName()); });
  if (failed(types))
    return failure();
  results.assign({resultType(*types), logSumType(*types)});
  return success();
}

LogicalResult AttentionOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = selectSizes(builder, getLoc(), getQuery(), {0, 1, 2});
  shapes.assign(2, sizes);
  shapes.front().push_back(sizeOf(builder, getLoc(), getValue(), 3));
  return success();
}

// The statistic of a row in f32, for the derivative.
bool AttentionOp::keepsResultType(unsigned number) { return number == 1; }

//===- ad.attention_grad -===//

static LogicalResult verifyOwn(Value value, RankedTensorType expected, StringRef name, EmitError error) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getElementType() != expected.getElementType() ||
      failed(verifyCompatibleShape(type, expected))) // attention_grad_c2, attention_grad_c3
    return error() << "expected " << name << " of type " << expected << ", but got " << value.getType();
  return success();
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  auto types = verifiedTypes(adaptor, error); // attention_grad_c1
  if (failed(types) || failed(verifyOwn(adaptor.getLogSum(), logSumType(*types), "logSum", error)) ||
      failed(verifyOwn(adaptor.getDelta(), logSumType(*types), "delta", error)) ||
      failed(verifyOwn(adaptor.getCotangent(), resultType(*types), "a cotangent", error)))
    return failure();
  results.assign({types->query, types->key, types->value});
  if (types->mask && isa<FloatType>(types->mask.getElementType()))
    results.push_back(types->mask);
  return success();
}

LogicalResult AttentionGradOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<Value> operands = {getQuery(), getKey(), getValue()};
  if (getMaskGrad())
    operands.push_back(getMask());
  for (Value operand : operands)
    shapes.push_back(selectSizes(builder, getLoc(), operand, {0, 1, 2, 3}));
  return success();
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADAttentionOps.cpp.inc"
