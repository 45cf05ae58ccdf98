// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes at run time: where the size of a dimension comes from, and index values for it.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// Where a size comes from: a number, an index value, or a dimension of a tensor.
struct SizeSource {
  std::optional<int64_t> number;
  Value value;
  int64_t dimension = -1;

  bool operator==(const SizeSource &other) const {
    return number == other.number && value == other.value && dimension == other.dimension;
  }
};
} // namespace

// The index operand that gives the dynamic `dimension` of the result, for operations that carry sizes.
static Value explicitSize(Operation *op, int64_t dimension) {
  auto sizes =
      llvm::TypeSwitch<Operation *, std::optional<OperandRange>>(op)
          .Case<FullOp, IotaOp, FeedOp, ReshapeOp, BroadcastOp, SumToShapeOp, SliceOp, DynamicSliceOp>(
              [](auto typed) { return std::optional<OperandRange>(typed.getSizes()); })
          .Default(std::nullopt);
  if (!sizes)
    return nullptr;
  unsigned index = cast<RankedTensorType>(op->getResult(0).getType()).getDynamicDimIndex(dimension);
  return index < sizes->size() ? (*sizes)[index] : nullptr;
}

// The operand of an `ad` operation whose dimension is for sure that of the result; moves `dimension` along.
static Value sizedLike(Operation *op, int64_t &dimension) {
  if (!isa_and_nonnull<ADDialect>(op->getDialect()) || op->getNumOperands() == 0 || op->getNumResults() != 1)
    return nullptr;
  if (op->hasTrait<OpTrait::SameOperandsAndResultType>() ||
      op->hasTrait<OpTrait::SameOperandsAndResultShape>())
    return op->getOperand(0);
  if (!isa<AddOp, SubOp, MulOp, DivOp, RemOp, MaxOp, MinOp, PowOp, Atan2Op, AndOp, OrOp, XorOp, CompareOp,
           SelectOp, ClampOp, FmaOp>(op))
    return nullptr;
  // A broadcast: only when the other operands have a static 1 there.
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  Value source;
  int64_t sourceDimension = 0;
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t own = dimension - (rank - type.getRank());
    if (own < 0 || type.getDimSize(own) == 1 || operand == source)
      continue;
    if (source)
      return nullptr;
    source = operand;
    sourceDimension = own;
  }
  dimension = sourceDimension;
  return source;
}

static SizeSource traceSize(Value tensor, int64_t dimension) {
  // Where nothing says which value comes first, in graph regions and unreachable code, a trace may come back.
  llvm::SmallDenseSet<std::pair<Value, int64_t>, 8> visited;
  while (true) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(dimension))
      return {type.getDimSize(dimension), nullptr, -1};
    Operation *op = tensor.getDefiningOp();
    if (!op || !visited.insert({tensor, dimension}).second)
      return {std::nullopt, tensor, dimension};
    if (Value size = explicitSize(op, dimension)) {
      if (std::optional<int64_t> number = getConstantIntValue(size))
        return {number, nullptr, -1};
      auto dim = size.getDefiningOp<tensor::DimOp>();
      std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
      auto source = dim ? dyn_cast<RankedTensorType>(dim.getSource().getType()) : nullptr;
      if (!index || !source || *index < 0 || *index >= source.getRank())
        return {std::nullopt, size, -1};
      tensor = dim.getSource();
      dimension = *index;
      continue;
    }
    Value like = sizedLike(op, dimension);
    if (!like)
      return {std::nullopt, tensor, dimension};
    tensor = like;
  }
}

static OpFoldResult materialize(OpBuilder &builder, Location loc, const SizeSource &source) {
  if (source.number)
    return builder.getIndexAttr(*source.number);
  if (source.dimension < 0)
    return source.value;
  return builder.createOrFold<tensor::DimOp>(loc, source.value, source.dimension);
}

OpFoldResult ad::sizeOf(OpBuilder &builder, Location loc, Value tensor, int64_t dimension) {
  return materialize(builder, loc, traceSize(tensor, dimension));
}

SmallVector<Value> ad::dynamicSizes(OpBuilder &builder, Location loc, Value tensor) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, tensor, dimension)));
  return sizes;
}

bool ad::haveSameSize(Value lhs, int64_t lhsDimension, Value rhs, int64_t rhsDimension) {
  return traceSize(lhs, lhsDimension) == traceSize(rhs, rhsDimension);
}

bool ad::haveSameShape(Value lhs, Value rhs) {
  auto left = dyn_cast<RankedTensorType>(lhs.getType()), right = dyn_cast<RankedTensorType>(rhs.getType());
  if (!left || !right || left.getRank() != right.getRank())
    return false;
  for (int64_t dimension = 0; dimension < left.getRank(); ++dimension)
    if (!haveSameSize(lhs, dimension, rhs, dimension))
      return false;
  return true;
}

SmallVector<OpFoldResult> ad::mixedSizes(OpBuilder &builder, RankedTensorType type, ValueRange sizes) {
  SmallVector<OpFoldResult> shape;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      shape.push_back(builder.getIndexAttr(size));
      continue;
    }
    shape.push_back(sizes.front());
    sizes = sizes.drop_front();
  }
  return shape;
}

LogicalResult ad::verifySizes(Operation *op, RankedTensorType type, ValueRange sizes) {
  if (sizes.size() == static_cast<size_t>(type.getNumDynamicDims()))
    return success();
  return op->emitOpError("expected one size per dynamic dimension of ")
         << type << ", that is " << type.getNumDynamicDims() << ", but got " << sizes.size();
}

// select(p == 1, q, p): right whenever p and q broadcast; whether they do is checked where the broadcast
// happens.
static Value commonSize(OpBuilder &builder, Location loc, Value p, Value q) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value isOne = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, p, one);
  return builder.createOrFold<arith::SelectOp>(loc, isOne, q, p);
}

static OpFoldResult broadcastSize(OpBuilder &builder, Location loc, ValueRange operands, int64_t rank,
                                  int64_t dimension) {
  SmallVector<SizeSource> candidates;
  for (Value operand : operands) {
    int64_t own = dimension - (rank - cast<RankedTensorType>(operand.getType()).getRank());
    if (own < 0)
      continue;
    SizeSource source = traceSize(operand, own);
    if (source.number && *source.number != 1)
      return builder.getIndexAttr(*source.number);
    if (!source.number && !llvm::is_contained(candidates, source))
      candidates.push_back(source);
  }
  if (candidates.empty())
    return builder.getIndexAttr(1);
  OpFoldResult size = materialize(builder, loc, candidates.front());
  for (const SizeSource &candidate : ArrayRef(candidates).drop_front())
    size = commonSize(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, size),
                      getValueOrCreateConstantIndexOp(builder, loc, materialize(builder, loc, candidate)));
  return size;
}

SmallVector<OpFoldResult> ad::reifyBroadcastShape(OpBuilder &builder, Location loc, ValueRange operands) {
  int64_t rank = 0;
  for (Value operand : operands)
    rank = std::max(rank, cast<RankedTensorType>(operand.getType()).getRank());
  SmallVector<OpFoldResult> shape;
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    shape.push_back(broadcastSize(builder, loc, operands, rank, dimension));
  return shape;
}
