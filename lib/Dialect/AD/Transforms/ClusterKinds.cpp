// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a cluster of operations is, by its operations alone.

#include "adjoint/Dialect/AD/Transforms/ClusterKinds.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"

using namespace mlir;
using namespace mlir::ad;

// Only axes of size 1 come or go: every element keeps its indices along the others.
static bool keepsIndices(Operation &reshape) {
  auto longAxes = [](Value value) {
    return llvm::filter_to_vector(cast<RankedTensorType>(value.getType()).getShape(),
                                  [](int64_t size) { return size != 1; });
  };
  auto before = longAxes(reshape.getOperand(0)), after = longAxes(reshape.getResult(0));
  return before == after && llvm::count_if(after, ShapedType::isDynamic) <= 1;
}

static bool isPartOfElementwise(Operation &op) {
  ViewKind view = viewKindOf(&op);
  if (view == ViewKind::reshape)
    return keepsIndices(op);
  return view == ViewKind::broadcast || isElementwiseOp(&op) || op.hasTrait<OpTrait::ConstantLike>();
}

// Elements that are contiguous in the operand are not in the result.
static bool movesLastAxis(Operation &op) {
  if (viewKindOf(&op) != ViewKind::transpose)
    return false;
  AffineMap access = cast<FusableOpInterface>(op).getAccessMaps().front();
  return access.getNumResults() > 0 &&
         access.getResults().back() != getAffineDimExpr(access.getNumDims() - 1, op.getContext());
}

static auto operationsOf(FusionOp fusion) { return fusion.getBody().front().without_terminator(); }

// kDynamic if a size is.
static int64_t elementCount(Type type) {
  auto shape = cast<RankedTensorType>(type).getShape();
  return ShapedType::isDynamicShape(shape) ? ShapedType::kDynamic : ShapedType::getNumElements(shape);
}

bool ad::isElementwiseCluster(FusionOp fusion) {
  return llvm::all_of(operationsOf(fusion), isPartOfElementwise);
}

bool ad::isRowCluster(FusionOp fusion) {
  return llvm::all_of(operationsOf(fusion),
                      [](Operation &op) { return isPartOfElementwise(op) || reducesLastAxis(&op); });
}

bool ad::reducesRowsOnce(FusionOp fusion) {
  llvm::SmallPtrSet<Operation *, 8> reduced; // the reductions, and what reads them
  std::optional<int64_t> rows;
  for (Operation &op : operationsOf(fusion)) {
    bool again = llvm::any_of(op.getOperands(),
                              [&](Value operand) { return reduced.contains(operand.getDefiningOp()); });
    if (again && reducesLastAxis(&op))
      return false;
    if (reducesLastAxis(&op))
      rows = elementCount(op.getResult(0).getType());
    if (again || reducesLastAxis(&op))
      reduced.insert(&op);
  }
  return rows &&
         llvm::all_of(fusion.getResultTypes(), [&](Type type) { return elementCount(type) == *rows; });
}

std::pair<int64_t, int64_t> ad::reducedRows(FusionOp fusion) {
  for (Operation &op : operationsOf(fusion))
    if (reducesLastAxis(&op))
      return {elementCount(op.getResult(0).getType()),
              cast<RankedTensorType>(op.getOperand(0).getType()).getShape().back()};
  return {0, 0};
}

bool ad::isContractionCluster(FusionOp fusion) {
  return llvm::any_of(operationsOf(fusion), [](Operation &op) { return isContractionOp(&op); });
}

bool ad::isSingleContraction(FusionOp fusion) {
  ArrayRef<int64_t> shape;
  int64_t contractions = 0;
  for (Operation &op : operationsOf(fusion))
    if (isContractionOp(&op) && ++contractions == 1)
      shape = cast<RankedTensorType>(op.getResult(0).getType()).getShape();
  return contractions == 1 &&
         llvm::all_of(operationsOf(fusion),
                      [&](Operation &op) { return isContractionOp(&op) || isPartOfElementwise(op); }) &&
         llvm::all_of(fusion.getResultTypes(),
                      [&](Type type) { return cast<RankedTensorType>(type).getShape() == shape; });
}

bool ad::isScan(FusionOp fusion) {
  return llvm::hasSingleElement(operationsOf(fusion)) &&
         operationsOf(fusion).begin()->hasTrait<RunningReduction>();
}

bool ad::isScatter(FusionOp fusion) {
  int64_t writes = llvm::count_if(operationsOf(fusion), llvm::IsaPred<OrderedWriteOpInterface>);
  return writes == 1 && llvm::all_of(operationsOf(fusion), [](Operation &op) {
           return isa<OrderedWriteOpInterface>(op) || viewKindOf(&op) == ViewKind::broadcast ||
                  op.hasTrait<OpTrait::ConstantLike>();
         });
}

bool ad::isSort(FusionOp fusion) {
  if (!llvm::hasSingleElement(operationsOf(fusion)))
    return false;
  auto sort = dyn_cast<ArgsortOp>(*operationsOf(fusion).begin());
  return sort && static_cast<int64_t>(sort.getAxis()) == sort.getInput().getType().getRank() - 1;
}

bool ad::isTransposition(FusionOp fusion) {
  return llvm::hasSingleElement(operationsOf(fusion)) && movesLastAxis(*operationsOf(fusion).begin());
}
