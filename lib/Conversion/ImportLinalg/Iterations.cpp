// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions by any code: the program runs the reduction loops itself, and each iteration computes the next
// accumulators at all points of the parallel loops.

#include "BodyRaiser.h"
#include "LoopNest.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// The loops of a nest in the body of the program's loops: those have one iteration.
struct InnerLoops {
  InnerLoops(OpBuilder &builder, const LoopNest &nest, ValueRange numbers)
      : sizes(nest.sizes), iterations(nest.sizes.size()) {
    for (auto [loop, number] : llvm::zip_equal(nest.reduction, numbers)) {
      sizes[loop] = builder.getIndexAttr(1);
      iterations[loop] = number;
    }
  }

  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> iterations;
};
} // namespace

// Accumulators have an axis for each parallel loop while the loops run.
static SmallVector<Value> accumulatorsOf(TensorCode code, const LoopNest &nest) {
  SmallVector<Value> accumulators;
  for (BlockArgument argument : nest.body->getArguments().drop_front(nest.inputs)) {
    Value aligned = readByMap(code, nest.operandOf(argument), nest.mapOf(argument), nest.sizes);
    accumulators.push_back(spreadOverLoops(code, aligned, nest.parallel, nest.sizes));
  }
  return accumulators;
}

static FailureOr<SmallVector<Value>> runIteration(TensorCode code, const LoopNest &nest, ValueRange numbers,
                                                  ValueRange carried, Refusals &refusals) {
  InnerLoops loops(code.builder, nest, numbers);
  LoopSizes sizes(loops.sizes, loops.iterations);
  BodyRaiser raiser(code, sizes, *nest.body->getParent(), refusals, [&](BlockArgument argument) -> Value {
    if (argument.getArgNumber() < nest.inputs)
      return readByMap(code, nest.operandOf(argument), nest.mapOf(argument), sizes);
    return alignWithLoops(code, carried[argument.getArgNumber() - nest.inputs], nest.parallel, sizes.size());
  });
  FailureOr<SmallVector<Value>> next = raiser.raise(nest.body->getTerminator()->getOperands());
  if (failed(next))
    return failure();
  for (auto [value, before] : llvm::zip_equal(*next, carried))
    value = code.withType(spreadOverLoops(code, value, nest.parallel, sizes), TensorCode::typeOf(before));
  return next;
}

FailureOr<SmallVector<Value>> ad::runIterations(TensorCode code, const LoopNest &nest, Refusals &refusals) {
  Value zero = code.index(code.builder.getIndexAttr(0)), one = code.index(code.builder.getIndexAttr(1));
  SmallVector<Value> starts(nest.reduction.size(), zero), steps(nest.reduction.size(), one);
  SmallVector<Value> ends =
      llvm::map_to_vector(nest.reduction, [&](unsigned loop) { return code.index(nest.sizes[loop]); });
  bool isRaised = true;
  auto body = [&](OpBuilder &builder, Location loc, ValueRange numbers, ValueRange carried) {
    FailureOr<SmallVector<Value>> next =
        runIteration(TensorCode(builder, loc), nest, numbers, carried, refusals);
    isRaised = succeeded(next);
    return isRaised ? scf::ValueVector(next->begin(), next->end())
                    : scf::ValueVector(carried.begin(), carried.end());
  };
  scf::LoopNest made =
      scf::buildLoopNest(code.builder, code.loc, starts, ends, steps, accumulatorsOf(code, nest), body);
  if (!isRaised)
    return failure();
  SmallVector<Value> results;
  for (auto [value, result] : llvm::zip_equal(made.results, nest.op->getResults())) {
    Value aligned = alignWithLoops(code, value, nest.parallel, nest.sizes.size());
    linalg::GenericOp op = nest.op;
    results.push_back(
        moveToResult(code, nest, aligned, op.getIndexingMapMatchingResult(cast<OpResult>(result))));
  }
  return results;
}
