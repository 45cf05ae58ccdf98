// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions of linalg.generic in nested chains: the first result has every step, the second one the
// accumulator.

#include "Accumulation.h"
#include "Combiners.h"
#include "LinalgLoops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

/// The operation that yields the next accumulator, if it joins partial results; else null.
static Operation *runningCombiner(linalg::GenericOp op) {
  if (op.getNumResults() != 2 || op.getNumReductionLoops() != 1 ||
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getNumResults() != op.getNumLoops())
    return nullptr;
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(1).getDefiningOp();
  bool joins = combiner && combiner->getBlock() == op.getBlock() && neutralOf(combiner) &&
               llvm::count(combiner->getOperands(), Value(op.getRegionOutputArgs().back())) == 1;
  return joins ? combiner : nullptr;
}

namespace {
class RunningChains {
public:
  RunningChains(linalg::GenericOp op, Frame &frame, LinalgLoops &loops)
      : op(op), frame(frame), loops(loops), order(orderOfKernel(op)), combiner(runningCombiner(op)),
        joinCode(combiner, frame), neutral(scalarOf(neutralOf(combiner))) {
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    dim = reduced.front();
    makeResultCode();
  }

  /// The chain whose first step is at `first`. `total` is what it starts from, and becomes the last
  /// accumulator.
  int32_t run(ArrayRef<int64_t> first, Tensor &steps, Tensor &total) {
    int64_t length = order.getPartLength(), count = loops.getExtents()[dim];
    int64_t tile = order.getTileLength() / length;
    std::vector<Tensor> totals;
    std::vector<Accumulators> accumulators;
    Tensor running = total;
    for (int64_t i = 0; i < count && !status; ++i) {
      Tensor before = i == 0 ? total : i % length == 0 ? neutral : running;
      running = nextOf(at(first, i), before);
      accumulators.push_back({before, running});
      if ((i + 1) % length == 0)
        totals.push_back(running);
    }
    auto join = [&](const Tensor &left, const Tensor &right) { return joinCode.join(left, right, status); };
    std::vector<Tensor> carries = numerics::nestedChains(totals, neutral, {tile}, join);
    for (int64_t i = 0; i < count && !status; ++i) {
      auto [before, next] = accumulators[i];
      if (i >= length) {
        before = join(carries[i / length - 1], before);
        next = join(carries[i / length - 1], next);
      }
      total = next;
      Tensor result = resultOf(at(first, i), before, next);
      if (!status)
        status = loops.write(*op.getDpsInitOperand(0), steps, at(first, i), result);
    }
    return status;
  }

private:
  struct Accumulators {
    Tensor before, next;
  };

  Shape at(ArrayRef<int64_t> first, int64_t i) {
    Shape index(first);
    index[dim] = i;
    return index;
  }

  // The body without its combiner: from the inputs and both accumulators to the result of the step.
  void makeResultCode() {
    Block *body = op.getBlock();
    OpBuilder builder(op.getContext());
    builder.setInsertionPointToEnd(&resultCode);
    IRMapping mapping;
    auto argumentFor = [&](Value value) {
      mapping.map(value, resultCode.addArgument(value.getType(), op.getLoc()));
    };
    for (BlockArgument input : op.getRegionInputArgs())
      argumentFor(input);
    argumentFor(op.getRegionOutputArgs().back());
    argumentFor(combiner->getResult(0));
    for (Operation &each : body->without_terminator())
      if (&each != combiner && !isa<linalg::IndexOp>(each)) // indices are those of the body
        builder.clone(each, mapping);
    func::ReturnOp::create(builder, op.getLoc(),
                           mapping.lookupOrDefault(body->getTerminator()->getOperand(0)));
  }

  Tensor nextOf(ArrayRef<int64_t> index, const Tensor &before) {
    SmallVector<Tensor> yielded;
    Tensor unused;
    OpOperand &init = *op.getDpsInitOperand(0);
    if (!status)
      status = loops.read(init, frame[init.get()], index, unused);
    if (!status)
      status = loops.runBody(index, {unused, before}, yielded);
    return status ? before : yielded.back();
  }

  Tensor resultOf(ArrayRef<int64_t> index, const Tensor &before, const Tensor &next) {
    SmallVector<Tensor> arguments, yielded;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Tensor &argument = arguments.emplace_back(frame[input->get()]);
      Tensor whole = argument;
      if (isa<RankedTensorType>(input->get().getType()) && !status)
        status = loops.read(*input, whole, index, argument);
    }
    arguments.append({before, next});
    for (auto each : op.getOps<linalg::IndexOp>())
      frame.set(each.getResult(), Tensor::index(index[each.getDim()]));
    if (!status)
      status = frame.runBlock(resultCode, arguments, yielded);
    return status ? next : yielded.front();
  }

  linalg::GenericOp op;
  Frame &frame;
  LinalgLoops &loops;
  OrderAttr order;
  Operation *combiner;
  JoinCode joinCode;
  Tensor neutral;
  unsigned dim = 0;
  Block resultCode;
  int32_t status = ADRT_OK;
};
} // namespace

bool mlir::ad::reference::runsInNestedChains(linalg::GenericOp op) {
  OrderAttr order = orderOfKernel(op);
  return order && order.hasNestedChains() && runningCombiner(op);
}

int32_t mlir::ad::reference::runRunningReduction(linalg::GenericOp op, Frame &frame, LinalgLoops &loops,
                                                 MutableArrayRef<Tensor> results) {
  OpOperand &chains = *op.getDpsInitOperand(1);
  Shape parallel(loops.getExtents());
  for (auto [extent, kind] : llvm::zip_equal(parallel, op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      extent = 1;
  return forEachIndex(parallel, [&](ArrayRef<int64_t> index) -> int32_t {
    Tensor total;
    if (int32_t status = loops.read(chains, results.back(), index, total))
      return status;
    if (int32_t status = RunningChains(op, frame, loops).run(index, results.front(), total))
      return status;
    return loops.write(chains, results.back(), index, total);
  });
}
