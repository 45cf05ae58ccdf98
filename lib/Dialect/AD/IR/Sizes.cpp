// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes at run time: index values for them, and whether two are the same.

#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

// Folders and builders query sizes at every operation: this limit keeps their work proportional to the size
// of the program.
static constexpr size_t reach = 64;

int64_t ad::elementBytes(RankedTensorType type) {
  return std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
}

int64_t ad::bytesPerUnit(RankedTensorType type) {
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  int64_t bytes = elementBytes(type);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(bytes, size, bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

static OpFoldResult materialize(OpBuilder &builder, Location loc, const SizeOrigin &origin) {
  if (!origin.value)
    return builder.getIndexAttr(origin.number);
  if (origin.dimension < 0)
    return origin.value;
  return builder.createOrFold<tensor::DimOp>(loc, origin.value, origin.dimension);
}

OpFoldResult ad::sizeOf(OpBuilder &builder, Location loc, Value tensor, int64_t dimension) {
  return materialize(builder, loc, SizeAnalysis(reach).originOfSize(tensor, dimension));
}

OpFoldResult ad::sizeByType(OpBuilder &builder, Location loc, Value tensor, int64_t dimension) {
  OpFoldResult size = sizeOf(builder, loc, tensor, dimension);
  bool isOpen = cast<RankedTensorType>(tensor.getType()).isDynamicDim(dimension);
  return isOpen ? getValueOrCreateConstantIndexOp(builder, loc, size) : size;
}

SmallVector<Value> ad::dynamicSizes(OpBuilder &builder, Location loc, Value tensor) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      sizes.push_back(cast<Value>(sizeByType(builder, loc, tensor, dimension)));
  return sizes;
}

bool ad::haveSameSize(Value lhs, int64_t lhsDimension, Value rhs, int64_t rhsDimension) {
  SizeAnalysis analysis(reach);
  return analysis.originOfSize(lhs, lhsDimension) == analysis.originOfSize(rhs, rhsDimension);
}

bool ad::haveSameShape(Value lhs, Value rhs) {
  return isa<RankedTensorType>(lhs.getType()) && isa<RankedTensorType>(rhs.getType()) &&
         SizeAnalysis(reach).surelySameShape(lhs, rhs);
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
  SizeAnalysis analysis(reach);
  SmallVector<SizeOrigin> candidates;
  for (Value operand : operands) {
    int64_t own = dimension - (rank - cast<RankedTensorType>(operand.getType()).getRank());
    if (own < 0)
      continue;
    SizeOrigin origin = analysis.originOfSize(operand, own);
    if (!origin.value && origin.number != 1)
      return builder.getIndexAttr(origin.number);
    if (origin.value && !llvm::is_contained(candidates, origin))
      candidates.push_back(origin);
  }
  if (candidates.empty())
    return builder.getIndexAttr(1);
  OpFoldResult size = materialize(builder, loc, candidates.front());
  for (const SizeOrigin &candidate : ArrayRef(candidates).drop_front())
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
