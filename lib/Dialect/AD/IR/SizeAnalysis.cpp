// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Origins of sizes, traced through the operations whose result shape is known from their operands.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
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

// The size of the first operand that is accessed by the loop that gives the dimension of the result.
static Sources byAccess(FusableOpInterface op, int64_t dimension) {
  SmallVector<AffineMap> maps = op.getAccessMaps();
  if (op->getNumResults() != 1 || !maps.back())
    return {};
  AffineExpr loop = maps.back().getResult(dimension);
  auto tensors = llvm::make_filter_range(
      op->getOperands(), [](Value operand) { return isa<RankedTensorType>(operand.getType()); });
  for (auto [operand, map] : llvm::zip(tensors, ArrayRef(maps).drop_back()))
    for (int64_t axis = 0; map && axis < map.getNumResults(); ++axis)
      if (map.getResult(axis) == loop && isa<AffineDimExpr>(loop))
        return {ofDimension(operand, axis)};
  return {};
}

// The index operand that gives a dynamic size of the result; null if no operand does.
static Value sizeOperand(Operation *op, int64_t dimension) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<BroadcastOp, SumToShapeOp, ReshapeOp, SliceOp, DynamicSliceOp, FullOp, IotaOp, FeedOp>(
          [&](auto sized) {
            auto type = cast<RankedTensorType>(sized.getType());
            return sized.getSizes()[type.getDynamicDimIndex(dimension)];
          })
      .Default(Value());
}

// A carried value keeps the sizes that it has before the loop: reference and compiled loops refuse another
// one (docs/spec/control.md). `values` are the arguments of the body or the results of the loop.
static Sources inLoop(LoopLikeOpInterface loop, ValueRange values, unsigned number, int64_t dimension) {
  // Loops with a region for their condition result in other values than they carry.
  if (loop.getLoopRegions().size() != 1 || values.size() != loop.getInits().size())
    return {};
  return {ofDimension(loop.getInits()[number], dimension)};
}

static Sources carriedSources(const SizeOrigin &size) {
  if (auto result = dyn_cast<OpResult>(size.value)) {
    auto loop = cast<LoopLikeOpInterface>(result.getOwner());
    auto results = loop.getLoopResults();
    return results ? inLoop(loop, *results, result.getResultNumber(), size.dimension) : Sources();
  }
  auto argument = cast<BlockArgument>(size.value);
  auto loop = dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  Block::BlockArgListType carried = loop ? loop.getRegionIterArgs() : Block::BlockArgListType();
  auto *found = llvm::find(carried, argument);
  return found == carried.end() ? Sources() : inLoop(loop, carried, found - carried.begin(), size.dimension);
}

// What the regions of a branch yield. An origin that several of them have is from before the branch.
static Sources inBranch(RegionBranchOpInterface branch, unsigned number, int64_t dimension) {
  if (branch->getNumRegions() < 2 || branch.hasLoop())
    return {};
  Sources sources;
  for (Region &region : branch->getRegions()) {
    if (!region.hasOneBlock() || region.front().getTerminator()->getNumOperands() != branch->getNumResults())
      return {};
    Value yielded = region.front().getTerminator()->getOperand(number);
    if (!isa<RankedTensorType>(yielded.getType()))
      return {};
    sources.push_back(ofDimension(yielded, dimension));
  }
  return sources;
}

static Sources sourcesOf(const SizeOrigin &size) {
  int64_t dimension = size.dimension;
  Operation *op = size.value.getDefiningOp();
  if (!op || isa<LoopLikeOpInterface>(op))
    return carriedSources(size);
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    return inBranch(branch, cast<OpResult>(size.value).getResultNumber(), dimension);
  if (Value index = sizeOperand(op, dimension))
    return {ofIndex(index)};
  if (op->hasTrait<ShapeOfFirstOperand>())
    return {ofDimension(op->getOperand(0), dimension)};
  if (isElementwiseOp(op))
    return inElementwise(op, dimension);
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable ? byAccess(fusable, dimension) : Sources();
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
