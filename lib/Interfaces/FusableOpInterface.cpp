// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The loops and accesses of elementwise operations, and what loops and accesses say about an operation.

#include "adjoint/Interfaces/FusableOpInterface.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::ad;

static bool hasKind(Operation *op, FusionKind kind) {
  auto fusable = dyn_cast_if_present<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == kind;
}

FusionKind ad::defaultFusionKind(Operation *op) {
  if (isa<LoopNestOpInterface, OrderedWriteOpInterface>(op))
    return FusionKind::nest;
  return isa<NamedKernelOpInterface>(op) ? FusionKind::movement : FusionKind::elementwise;
}

SmallVector<utils::IteratorType> ad::defaultIteratorTypes(Operation *op) {
  if (auto nest = dyn_cast<LoopNestOpInterface>(op))
    return nest.getLoops();
  if (!isElementwiseOp(op))
    return {};
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  return SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel);
}

// An access that may leave its tensor, or whose index a tensor holds, has no map of the loops.
static SmallVector<AffineMap> accessMaps(LoopNestOpInterface nest) {
  SmallVector<AffineMap> maps = llvm::map_to_vector(nest.getAccesses(), [](const ElementAccess &access) {
    return access.outOfRange == OutOfRange::error && access.indexOperands.empty() ? access.map : AffineMap();
  });
  llvm::append_range(maps, nest.getResultMaps());
  return maps;
}

SmallVector<AffineMap> ad::defaultAccessMaps(Operation *op) {
  if (auto nest = dyn_cast<LoopNestOpInterface>(op))
    return accessMaps(nest);
  int64_t tensors = llvm::count_if(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  AffineMap map;
  if (isElementwiseOp(op))
    map = AffineMap::getMultiDimIdentityMap(cast<RankedTensorType>(op->getResult(0).getType()).getRank(),
                                            op->getContext());
  return SmallVector<AffineMap>(tensors + op->getNumResults(), map);
}

ViewKind ad::viewKindOf(Operation *op) {
  auto fusable = dyn_cast_if_present<FusableOpInterface>(op);
  return fusable ? fusable.getViewKind() : ViewKind::none;
}

bool ad::isLoopNest(Operation *op) { return isa<LoopNestOpInterface>(op) && op->getNumResults() == 1; }

bool ad::isElementwiseOp(Operation *op) {
  return hasKind(op, FusionKind::elementwise) && op->getNumResults() == 1;
}

bool ad::isContractionOp(Operation *op) { return hasKind(op, FusionKind::dot); }

static bool reducesOneAxis(Operation *op) {
  if (!hasKind(op, FusionKind::reduce) || op->getNumResults() != 1)
    return false;
  SmallVector<utils::IteratorType> iterators = cast<FusableOpInterface>(op).getIteratorTypes();
  return llvm::count(iterators, utils::IteratorType::reduction) == 1;
}

// Whether the map has an index for each loop but the innermost, and perhaps zeros.
static bool dropsInnermost(AffineMap map) {
  SmallVector<AffineExpr> indices = llvm::to_vector(llvm::make_filter_range(
      map.getResults(), [](AffineExpr index) { return !isa<AffineConstantExpr>(index); }));
  AffineMap kept = AffineMap::getMultiDimIdentityMap(map.getNumDims(), map.getContext());
  return ArrayRef<AffineExpr>(indices) == kept.getResults().drop_back();
}

// Every operand is read in its own order, and the innermost loop is the one that reduces.
static bool readsRows(FusableOpInterface op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypes();
  SmallVector<AffineMap> maps = op.getAccessMaps();
  AffineMap identity = AffineMap::getMultiDimIdentityMap(iterators.size(), op->getContext());
  return iterators.back() == utils::IteratorType::reduction && dropsInnermost(maps.back()) &&
         llvm::all_of(ArrayRef(maps).drop_back(), [&](AffineMap map) { return map == identity; });
}

bool ad::reducesLastAxis(Operation *op) {
  return reducesOneAxis(op) && readsRows(cast<FusableOpInterface>(op));
}

bool ad::reducesOtherAxis(Operation *op) {
  return reducesOneAxis(op) && !readsRows(cast<FusableOpInterface>(op));
}
