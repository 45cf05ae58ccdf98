// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Origins of sizes, traced through the operations whose result shape is known from their operands.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

using Sources = SmallVector<SizeOrigin, 2>;

static SizeOrigin ofDimension(Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.isDynamicDim(dimension))
    return {-1, tensor, dimension};
  return {type.getDimSize(dimension), Value(), -1};
}

static SizeOrigin ofIndex(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), Value(), -1};
  if (auto dim = index.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> dimension = dim.getConstantIndex())
      if (auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
          type && *dimension >= 0 && *dimension < type.getRank())
        return ofDimension(dim.getSource(), *dimension);
  return {-1, index, -1};
}

//===- One operation back -------------------------------------------------===//

// Each function gives sizes that a size of the result has for sure if they are all the same; none where
// nothing is known.

static Sources inElementwise(Operation *op, int64_t dimension) {
  Sources sources;
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    int64_t aligned = type ? dimension - (rank - type.getRank()) : -1;
    if (aligned >= 0 && type.getDimSize(aligned) != 1)
      sources.push_back(ofDimension(operand, aligned));
  }
  return sources;
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

template <typename ReduceOp> static Sources inReduction(ReduceOp op, int64_t dimension) {
  int64_t rank = cast<RankedTensorType>(op.getInput().getType()).getRank();
  int64_t axis = keptAxis(op.getAxes(), op.getKeepDims(), rank, dimension);
  return axis < 0 ? Sources() : Sources{ofDimension(op.getInput(), axis)};
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

static Sources inContraction(Operation *op, int64_t dimension) {
  if (auto gemm = dyn_cast<GemmOp>(op))
    return {dimension == 0 ? ofDimension(gemm.getLhs(), gemm.getTransA() ? 1 : 0)
                           : ofDimension(gemm.getRhs(), gemm.getTransB() ? 0 : 1)};
  auto dot = cast<DotOp>(op);
  if (dimension < static_cast<int64_t>(dot.getLhsBatch().size()))
    return {ofDimension(dot.getLhs(), dot.getLhsBatch()[dimension])};
  dimension -= dot.getLhsBatch().size();
  int64_t axis = freeAxis(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContract(), dimension);
  if (axis >= 0)
    return {ofDimension(dot.getLhs(), axis)};
  axis = freeAxis(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContract(), dimension);
  return axis >= 0 ? Sources{ofDimension(dot.getRhs(), axis)} : Sources();
}

static Sources sourcesOf(const SizeOrigin &size) {
  int64_t dimension = size.dimension;
  Operation *op = size.value.getDefiningOp();
  if (!op)
    return {};
  auto type = cast<RankedTensorType>(size.value.getType());
  return llvm::TypeSwitch<Operation *, Sources>(op)
      .Case<BroadcastOp, SumToShapeOp, ReshapeOp, SliceOp, DynamicSliceOp, FullOp, IotaOp, FeedOp>(
          [&](auto sized) { return Sources{ofIndex(sized.getSizes()[type.getDynamicDimIndex(dimension)])}; })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        return Sources{ofDimension(transpose.getInput(), transpose.getPermutation()[dimension])};
      })
      .Case<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp, ReduceMeanOp>(
          [&](auto reduction) { return inReduction(reduction, dimension); })
      .Case<DotOp, GemmOp>([&](Operation *contraction) { return inContraction(contraction, dimension); })
      .Default([&](Operation *other) {
        if (other->hasTrait<ShapeOfFirstOperand>())
          return Sources{ofDimension(other->getOperand(0), dimension)};
        auto fusable = dyn_cast<FusableOpInterface>(other);
        bool elementwise = fusable && fusable.getFusionKind() == FusionKind::elementwise;
        return elementwise ? inElementwise(other, dimension) : Sources();
      });
}

//===- All the way back ---------------------------------------------------===//

SizeOrigin SizeAnalysis::lookup(const SizeOrigin &size) const {
  if (size.dimension < 0)
    return size;
  auto found = known.find({size.value, size.dimension});
  return found == known.end() ? size : found->second;
}

// Whether the dimension is a new one that has to be traced. Known before it is traced: in a graph region, or
// in code that nothing reaches, a value may depend on itself.
bool SizeAnalysis::visit(const SizeOrigin &size) {
  return size.dimension >= 0 && known.try_emplace({size.value, size.dimension}, size).second;
}

// Depth first, with a stack of its own: programs are longer than the thread's stack is deep.
SizeOrigin SizeAnalysis::trace(const SizeOrigin &start) {
  SmallVector<SizeOrigin> pending;
  if (visit(start))
    pending.push_back(start);
  size_t seen = 1;
  while (!pending.empty()) {
    SizeOrigin size = pending.back();
    Sources sources = sourcesOf(size);
    auto *next =
        llvm::find_if(sources, [&](const SizeOrigin &source) { return seen < reach && visit(source); });
    if (next != sources.end()) {
      pending.push_back(*next);
      ++seen;
      continue;
    }
    pending.pop_back();
    for (SizeOrigin &source : sources)
      source = lookup(source);
    if (!sources.empty() && llvm::all_equal(sources))
      known[{size.value, size.dimension}] = sources.front();
  }
  return lookup(start);
}

SizeOrigin SizeAnalysis::originOfSize(Value tensor, int64_t dimension) {
  return trace(ofDimension(tensor, dimension));
}

SizeOrigin SizeAnalysis::originOfIndex(Value index) { return trace(ofIndex(index)); }

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
