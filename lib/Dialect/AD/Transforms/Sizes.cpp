// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Origins of sizes, traced through the operations whose result shape is known from their operands.

#include "Sizes.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

static SizeOrigin number(int64_t n) { return {n, Value(), -1}; }

SizeOrigin SizeAnalysis::originOfIndex(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return number(constant.getSExtValue());
  if (auto dim = index.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> dimension = dim.getConstantIndex())
      if (auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
          type && *dimension >= 0 && *dimension < type.getRank())
        return originOfSize(dim.getSource(), *dimension);
  return {-1, index, -1};
}

// An elementwise result has the common size of its operands; with implicit broadcasts nothing is known.
std::optional<SizeOrigin> SizeAnalysis::inElementwise(Operation *op, int64_t dimension) {
  std::optional<SizeOrigin> common;
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    int64_t aligned = dimension - (rank - type.getRank());
    if (aligned < 0 || type.getDimSize(aligned) == 1)
      continue;
    SizeOrigin origin = originOfSize(operand, aligned);
    if (common && *common != origin)
      return std::nullopt;
    common = origin;
  }
  return common;
}

// The axis of the input that a reduction keeps as `dimension`; -1 when it is a reduced one.
static int64_t keptAxis(ArrayRef<int64_t> axes, bool keepDims, int64_t rank, int64_t dimension) {
  if (keepDims)
    return llvm::is_contained(axes, dimension) ? -1 : dimension;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis) && dimension-- == 0)
      return axis;
  return -1;
}

template <typename ReduceOp>
std::optional<SizeOrigin> SizeAnalysis::inReduction(ReduceOp op, int64_t dimension) {
  int64_t rank = cast<RankedTensorType>(op.getInput().getType()).getRank();
  int64_t axis = keptAxis(op.getAxes(), op.getKeepDims(), rank, dimension);
  return axis < 0 ? std::nullopt : std::optional<SizeOrigin>(originOfSize(op.getInput(), axis));
}

// The dimension-th axis of the operand that is neither a batch nor a contracting one; counts `dimension`
// down.
static int64_t freeAxis(Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract,
                        int64_t &dimension) {
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis) && dimension-- == 0)
      return axis;
  return -1;
}

std::optional<SizeOrigin> SizeAnalysis::inContraction(Operation *op, int64_t dimension) {
  if (auto gemm = dyn_cast<GemmOp>(op))
    return dimension == 0 ? originOfSize(gemm.getLhs(), gemm.getTransA() ? 1 : 0)
                          : originOfSize(gemm.getRhs(), gemm.getTransB() ? 0 : 1);
  auto dot = cast<DotOp>(op);
  if (dimension < static_cast<int64_t>(dot.getLhsBatch().size()))
    return originOfSize(dot.getLhs(), dot.getLhsBatch()[dimension]);
  dimension -= dot.getLhsBatch().size();
  int64_t axis = freeAxis(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContract(), dimension);
  if (axis >= 0)
    return originOfSize(dot.getLhs(), axis);
  axis = freeAxis(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContract(), dimension);
  return axis >= 0 ? std::optional<SizeOrigin>(originOfSize(dot.getRhs(), axis)) : std::nullopt;
}

std::optional<SizeOrigin> SizeAnalysis::inOperation(OpResult result, int64_t dimension) {
  Operation *op = result.getOwner();
  auto type = cast<RankedTensorType>(result.getType());
  return llvm::TypeSwitch<Operation *, std::optional<SizeOrigin>>(op)
      .Case<BroadcastOp, SumToShapeOp, ReshapeOp, SliceOp, DynamicSliceOp, FullOp, IotaOp, FeedOp>(
          [&](auto sized) { return originOfIndex(sized.getSizes()[type.getDynamicDimIndex(dimension)]); })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        return originOfSize(transpose.getInput(), transpose.getPermutation()[dimension]);
      })
      .Case<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp, ReduceMeanOp>(
          [&](auto reduction) { return inReduction(reduction, dimension); })
      .Case<DotOp, GemmOp>([&](Operation *contraction) { return inContraction(contraction, dimension); })
      .Case<ReverseOp, CumsumOp, SoftmaxOp, LogSoftmaxOp, LayerNormOp, RmsNormOp, StopGradientOp,
            DynamicUpdateSliceOp>(
          [&](Operation *same) { return originOfSize(same->getOperand(0), dimension); })
      .Default([&](Operation *other) -> std::optional<SizeOrigin> {
        auto fusable = dyn_cast<FusableOpInterface>(other);
        if (fusable && fusable.getFusionKind() == FusionKind::elementwise)
          return inElementwise(other, dimension);
        return std::nullopt;
      });
}

SizeOrigin SizeAnalysis::originOfSize(Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return number(type.getDimSize(dimension));
  auto key = std::make_pair(tensor, dimension);
  SizeOrigin origin{-1, tensor, dimension};
  // Known before it is traced: in a graph region, or in code that nothing reaches, a value may depend on
  // itself.
  if (auto [found, isNew] = known.try_emplace(key, origin); !isNew)
    return found->second;
  if (auto result = dyn_cast<OpResult>(tensor))
    if (std::optional<SizeOrigin> traced = inOperation(result, dimension))
      origin = *traced;
  return known[key] = origin;
}

bool SizeAnalysis::surelySameShape(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  int64_t rank = cast<RankedTensorType>(lhs.getType()).getRank();
  if (rank != cast<RankedTensorType>(rhs.getType()).getRank())
    return false;
  return llvm::all_of(llvm::seq<int64_t>(0, rank),
                      [&](int64_t dim) { return originOfSize(lhs, dim) == originOfSize(rhs, dim); });
}

Value ad::materializeSize(OpBuilder &builder, Location loc, const SizeOrigin &origin) {
  if (!origin.value)
    return arith::ConstantIndexOp::create(builder, loc, origin.number);
  if (origin.dimension < 0)
    return origin.value;
  return tensor::DimOp::create(builder, loc, origin.value, origin.dimension);
}
