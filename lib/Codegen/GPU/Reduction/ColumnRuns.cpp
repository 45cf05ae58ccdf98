// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ColumnRuns.h"
#include "Division.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Of more columns, the threads of a warp load whole lines as they are.
static constexpr int64_t kMaxColumns = 32;
// Shorter chains, and shorter blocks of an order, end before the copies of the next steps are under way.
static constexpr int64_t kMinLength = 64;
// Two for each multiprocessor.
static constexpr int64_t kFewWarps = 2 * kDefaultSMCount;

// The loops that the axes are, but for axes of one element.
static SmallVector<unsigned> loopsOf(AffineMap map) {
  SmallVector<unsigned> loops;
  for (AffineExpr expr : map.getResults())
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      loops.push_back(loop.getPosition());
  return loops;
}

static unsigned reducedLoop(linalg::GenericOp reduction) {
  SmallVector<unsigned> loops;
  reduction.getReductionDims(loops);
  return loops.front();
}

// Whether the axes are those of the result, in their order, and among them the reduced one.
static bool isInRuns(linalg::GenericOp reduction, AffineMap map) {
  SmallVector<unsigned> loops = loopsOf(map);
  if (!map.isPermutation())
    return false;
  llvm::erase(loops, reducedLoop(reduction));
  return loops == loopsOf(reduction.getMatchingIndexingMap(reduction.getDpsInitOperand(0)));
}

// Through operations of the same kernel that compute the element from elements at the same place.
static void addRunOperands(linalg::GenericOp reduction, Value tensor, AffineMap map,
                           SmallVectorImpl<RunOperand> &found) {
  if (!isa<RankedTensorType>(tensor.getType()) || !isInRuns(reduction, map))
    return;
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    AffineExpr loop = getAffineDimExpr(reducedLoop(reduction), reduction.getContext());
    if (llvm::none_of(found, [&](const RunOperand &operand) { return operand.argument == argument; }))
      found.push_back({argument, map, *map.getResultPosition(loop)});
    return;
  }
  auto producer = tensor.getDefiningOp<linalg::GenericOp>();
  if (!producer || producer.getNumReductionLoops() > 0)
    return;
  AffineMap result =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber()));
  if (!result.isPermutation())
    return;
  AffineMap loops = inversePermutation(result).compose(map);
  for (OpOperand *input : producer.getDpsInputOperands())
    addRunOperands(reduction, input->get(), producer.getMatchingIndexingMap(input).compose(loops), found);
}

SmallVector<RunOperand> device::runOperands(linalg::GenericOp reduction) {
  SmallVector<RunOperand> found;
  if (reduction.getNumReductionLoops() == 1)
    for (OpOperand *input : reduction.getDpsInputOperands())
      addRunOperands(reduction, input->get(), reduction.getMatchingIndexingMap(input), found);
  return found;
}

// The product of the sizes after the reduced axis; 0 if one is not known.
static int64_t countColumns(const RunOperand &operand) {
  int64_t count = 1;
  for (int64_t size : operand.shape().drop_front(operand.axis + 1)) {
    if (ShapedType::isDynamic(size) || size > kMaxColumns)
      return 0;
    count *= size;
  }
  return count;
}

// Few bundles are spread over more warps than their threads fill: a warp that has fewer runs copies less.
static int64_t bundlesOfWarp(const ColumnRuns &runs, int64_t total) {
  int64_t bundles = kWarpThreads / (runs.columns * runs.leaves);
  while (bundles > 1 && total < bundles * kFewWarps)
    bundles = llvm::divideCeil(bundles, 2);
  return bundles;
}

// Of the longest reduction; dynamic if a length is.
static int64_t countLeaves(KernelOp kernel, const ColumnRuns &runs) {
  int64_t most = 1;
  for (linalg::GenericOp reduction : runs.reductions) {
    int64_t length = reducedElements(reduction);
    if (ShapedType::isDynamic(length))
      return length;
    most = std::max<int64_t>(most, llvm::divideCeil(length, leafLength(kernel, reduction, Division())));
  }
  return most;
}

// The bundles of all leaves; if a size is not known, the largest number.
static int64_t countNodes(KernelOp kernel, const ColumnRuns &runs) {
  auto type = cast<RankedTensorType>(kernel.getResultTypes().front());
  int64_t leaves = countLeaves(kernel, runs);
  if (!type.hasStaticShape() || ShapedType::isDynamic(leaves))
    return std::numeric_limits<int64_t>::max();
  return type.getNumElements() / runs.columns * leaves;
}

std::optional<ColumnRuns> device::matchColumnRuns(KernelOp kernel) {
  OrderAttr order = kernel.getOrderAttr();
  if (order && (order.hasLanes() || order.getPartLength() < kMinLength))
    return std::nullopt;
  ColumnRuns runs{divisibleReductions(kernel), /*columns=*/0};
  Type space = kernel.getResultTypes().front();
  auto shapeOf = [](Type type) { return cast<RankedTensorType>(type).getShape(); };
  for (linalg::GenericOp reduction : runs.reductions) {
    SmallVector<RunOperand> operands = runOperands(reduction);
    int64_t length = reducedElements(reduction);
    if (operands.empty() || (!ShapedType::isDynamic(length) && length < kMinLength) ||
        shapeOf(reduction.getResult(0).getType()) != shapeOf(space))
      return std::nullopt;
    int64_t columns = countColumns(operands.front());
    if (columns < 1 || columns > kMaxColumns || (runs.columns != 0 && runs.columns != columns))
      return std::nullopt;
    runs.columns = columns;
  }
  if (runs.reductions.empty())
    return std::nullopt;
  runs.bundles = bundlesOfWarp(runs, countNodes(kernel, runs));
  return runs;
}

std::optional<ColumnRuns> device::matchUndividedRuns(KernelOp kernel) {
  std::optional<ColumnRuns> runs = matchColumnRuns(kernel);
  auto type = cast<RankedTensorType>(kernel.getResultTypes().front());
  if (!runs || !type.hasStaticShape())
    return runs;
  int64_t leaves = countLeaves(kernel, *runs);
  while (runs->leaves < leaves && 2 * runs->leaves * runs->columns <= kWarpThreads &&
         areFewThreads(type.getNumElements() * runs->leaves))
    runs->leaves *= 2;
  runs->bundles = bundlesOfWarp(*runs, type.getNumElements() / runs->columns);
  return runs;
}

bool device::hasAllLeaves(KernelOp kernel, const ColumnRuns &runs) {
  int64_t leaves = countLeaves(kernel, runs);
  return !ShapedType::isDynamic(leaves) && leaves <= runs.leaves;
}
