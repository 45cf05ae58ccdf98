// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions of linalg.generic whose partial results can be joined. The order of the kernel says which
// partial results there are, and docs/numerics.md what they start from.

#include "Accumulation.h"
#include "Combiners.h"
#include "LinalgLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

//===- Its form ---------------------------------------------------------===//

static Operation *combinerOf(linalg::GenericOp op) {
  return op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
}

bool mlir::ad::reference::joinsPartialResults(linalg::GenericOp op) {
  if (op.getNumResults() != 1)
    return false;
  BlockArgument accumulator = op.getRegionOutputArgs().front();
  Operation *combiner = combinerOf(op);
  if (!combiner || combiner->getBlock() != op.getBlock() || !accumulator.hasOneUse() ||
      *accumulator.user_begin() != combiner || !neutralOf(combiner))
    return false;
  auto fused = dyn_cast<math::FmaOp>(combiner);
  return !fused || fused.getC() == accumulator;
}

//===- What it starts from ---------------------------------------------===//

/// Whether the outs are a fill with the neutral element. A sum may also start from +0.
static bool startsFromNeutral(linalg::GenericOp op, TypedAttr neutral) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  TypedAttr start;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&start)))
    return false;
  auto number = dyn_cast<FloatAttr>(start);
  return start == neutral ||
         (number && number.getValue().isZero() && isa<arith::AddFOp, math::FmaOp>(combinerOf(op)));
}

//===- One element of the result ---------------------------------------===//

namespace {
class JoinedReduction {
public:
  JoinedReduction(linalg::GenericOp op, Frame &frame, LinalgLoops &loops)
      : op(op), loops(loops), joinCode(combinerOf(op), frame) {
    neutral = neutralOf(combinerOf(op));
    isOwnStart = startsFromNeutral(op, neutral);
    order = orderOfKernel(op);
    op.getReductionDims(reduced);
    for (unsigned loop : reduced)
      reducedExtents.push_back(loops.getExtents()[loop]);
  }

  int32_t reduceAt(ArrayRef<int64_t> first, const Tensor &outs, Tensor &total) {
    status = ADRT_OK;
    index.assign(first.begin(), first.end());
    Tensor start = isOwnStart ? outs : scalarOf(neutral);
    auto add = [&](const Tensor &sum, int64_t element) { return step(sum, element); };
    auto join = [&](const Tensor &left, const Tensor &right) { return joined(left, right); };
    int64_t count = product(reducedExtents);
    total = start;
    if (order)
      total = accumulate(order, count, start, add, join);
    else
      for (int64_t element = 0; element < count; ++element)
        total = add(total, element);
    if (!isOwnStart)
      total = joined(outs, total);
    return status;
  }

private:
  Tensor joined(const Tensor &left, const Tensor &right) { return joinCode.join(left, right, status); }

  /// Adds the element with this number; the last reduced loop is the fastest.
  Tensor step(const Tensor &sum, int64_t element) {
    for (auto [loop, extent] : llvm::reverse(llvm::zip_equal(reduced, reducedExtents))) {
      index[loop] = element % extent;
      element /= extent;
    }
    SmallVector<Tensor> result;
    if (!status)
      status = loops.runBody(index, sum, result);
    return status ? sum : result.front();
  }

  linalg::GenericOp op;
  LinalgLoops &loops;
  JoinCode joinCode;
  TypedAttr neutral;
  bool isOwnStart;
  OrderAttr order; // null for one chain
  SmallVector<unsigned> reduced;
  Shape reducedExtents, index;
  int32_t status = ADRT_OK;
};
} // namespace

int32_t mlir::ad::reference::runJoinedReduction(linalg::GenericOp op, Frame &frame, LinalgLoops &loops,
                                                Tensor &result) {
  JoinedReduction reduction(op, frame, loops);
  OpOperand &init = *op.getDpsInitOperand(0);
  Shape parallel(loops.getExtents());
  for (auto [extent, kind] : llvm::zip_equal(parallel, op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      extent = 1;
  return forEachIndex(parallel, [&](ArrayRef<int64_t> index) -> int32_t {
    Tensor outs, total;
    if (int32_t status = loops.read(init, result, index, outs))
      return status;
    if (int32_t status = reduction.reduceAt(index, outs, total))
      return status;
    return loops.write(init, result, index, total);
  });
}
