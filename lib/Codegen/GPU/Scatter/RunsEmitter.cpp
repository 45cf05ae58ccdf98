// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RunsEmitter.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Updates of a long run that a thread loads before it combines the first of them.
static constexpr int64_t kUpdatesAtOnce = 8;

LogicalResult RunsEmitter::emitOutputs() {
  const Buffer &result = results.front();
  launchShape = {MappingLevel::thread, 0, static_cast<int64_t>(runs.rank)};
  PerThread perThread(mapping);
  return emitLoop(mapping.thread, mapping.elementCount(result.sizes), mapping.gridThreads, [&](Value number) {
    Scope scope(*this);
    return emitElement(mapping.positionOfElement(number, result.sizes));
  });
}

LogicalResult RunsEmitter::emitElement(const Position &element) {
  SmallVector<Index> loops(element.begin(), element.end());
  loops.push_back({indexConstant(0), 0, nullptr});
  FailureOr<SmallVector<Value>> bounds =
      evaluator.evaluateBody(runs.generic, loops, IRMapping(), {runs.begin, runs.end});
  FailureOr<Value> start = evaluator.evaluateOne(runs.start(), element);
  if (failed(bounds) || failed(start))
    return failure();
  Value begin = binary<arith::MaxSIOp>(bounds->front(), indexConstant(0)),
        end = binary<arith::MinSIOp>(bounds->back(), reductionLoops.total(runs.generic)),
        length = binary<arith::MaxSIOp>(binary<arith::SubIOp>(end, begin), indexConstant(0)),
        atOnce = indexConstant(kUpdatesAtOnce);
  Value middle =
      binary<arith::AddIOp>(begin, binary<arith::MulIOp>(binary<arith::DivUIOp>(length, atOnce), atOnce));
  FailureOr<Value> most = emitSteps(loops, begin, middle, kUpdatesAtOnce, *start);
  if (failed(most))
    return failure();
  FailureOr<Value> all = emitSteps(loops, middle, end, 1, *most);
  if (failed(all))
    return failure();
  memoryAccess.store(results.front(), element, *all);
  return success();
}

// The accumulator after the updates from `from` to before `to`, which are a multiple of `stepsAtOnce`.
FailureOr<Value> RunsEmitter::emitSteps(ArrayRef<Index> loops, Value from, Value to, int64_t stepsAtOnce,
                                        Value start) {
  auto loop = scf::ForOp::create(builder, loc, from, to, indexConstant(stepsAtOnce), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  Value accumulator = loop.getRegionIterArg(0);
  for (int64_t step = 0; step < stepsAtOnce; ++step) {
    SmallVector<Index> at(loops);
    at.back().base = binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(step));
    IRMapping known;
    known.map(runs.accumulator(), accumulator);
    FailureOr<SmallVector<Value>> updated = evaluator.evaluateBody(runs.generic, at, known, runs.updated);
    if (failed(updated))
      return failure();
    accumulator = updated->front();
  }
  scf::YieldOp::create(builder, loc, accumulator);
  return loop.getResult(0);
}
