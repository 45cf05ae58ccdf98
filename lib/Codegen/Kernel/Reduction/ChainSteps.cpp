// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ChainSteps.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

// The positions of a tile, which come vector by vector. Row by row, one element of a row and one vector for
// each column are in registers at a time: fewer, where a tile has more rows than vectors.
static SmallVector<size_t> orderForRegisters(ArrayRef<SmallVector<Index>> loops) {
  llvm::SmallDenseSet<Value> columns;
  for (const SmallVector<Index> &position : loops)
    for (const Index &index : position)
      if (index.step != 0)
        columns.insert(index.base);
  size_t vectors = std::max<size_t>(columns.size(), 1), rows = loops.size() / vectors;
  auto order = llvm::to_vector(llvm::seq<size_t>(0, loops.size()));
  if (rows > vectors && rows * vectors == loops.size())
    for (size_t i : llvm::seq<size_t>(0, loops.size()))
      order[i] = i % vectors * rows + i / vectors;
  return order;
}

FailureOr<SmallVector<Value>> ChainSteps::chain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                ArrayRef<Value> start, Value lower, Value upper) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<Value> next(loop.getRegionIterArgs());
  unsigned count = generic.getNumResults();
  for (size_t i : orderForRegisters(loops))
    if (failed(
            step(generic, loops[i], loop.getInductionVar(), MutableArrayRef(next).slice(i * count, count))))
      return failure();
  afterStep(generic, loops, loop.getInductionVar());
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

LogicalResult ChainSteps::step(linalg::GenericOp generic, ArrayRef<Index> loops, Value k,
                               MutableArrayRef<Value> accumulators) {
  SmallVector<Index> inner(loops);
  reductionLoops.setIndex(generic, inner, {k, 0, nullptr});
  auto results = accumulate(generic, inner, accumulators);
  if (failed(results))
    return failure();
  for (auto [sum, value] : llvm::zip_equal(accumulators, *results))
    sum = isa<VectorType>(sum.getType()) ? laneValues.splat(value, lanes) : value;
  return success();
}
