// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ChainSteps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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

LogicalResult ChainSteps::stepAll(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, SetLoops set,
                                  MutableArrayRef<Value> accumulators) {
  unsigned count = generic.getNumResults();
  for (size_t i : orderForRegisters(loops)) {
    SmallVector<Index> inner(loops[i]);
    set(inner);
    if (failed(stepAt(generic, inner, accumulators.slice(i * count, count))))
      return failure();
  }
  return success();
}

FailureOr<SmallVector<Value>> ChainSteps::chain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                ArrayRef<Value> start, Value lower, Value upper) {
  if (Value length = reductionLoops.lengthOfRuns(generic))
    return chainOfRuns(generic, loops, start, lower, upper, length);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<Value> next(loop.getRegionIterArgs());
  Value k = loop.getInductionVar();
  auto set = [&](SmallVectorImpl<Index> &inner) { reductionLoops.setIndex(generic, inner, {k, 0, nullptr}); };
  if (failed(stepAll(generic, loops, set, next)))
    return failure();
  afterStep(generic, loops, k);
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

// A division for each run, in place of one for each step. Bounds are constants where the chain is whole.
FailureOr<SmallVector<Value>> ChainSteps::chainOfRuns(linalg::GenericOp generic,
                                                      ArrayRef<SmallVector<Index>> loops,
                                                      ArrayRef<Value> start, Value lower, Value upper,
                                                      Value length) {
  Value zero = indexConstant(0), one = indexConstant(1);
  Value divisor = binary<arith::MaxUIOp>(length, one); // without elements there is no run
  auto runs = scf::ForOp::create(builder, loc, binary<arith::DivUIOp>(lower, divisor),
                                 binary<arith::CeilDivUIOp>(upper, divisor), one, start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(runs.getBody());
  Scope scope(context);
  Value run = runs.getInductionVar(), first = binary<arith::MulIOp>(run, length);
  auto [begin, end] = std::pair(zero, length);
  std::optional<int64_t> from = getConstantIntValue(lower), to = getConstantIntValue(upper),
                         inRun = getConstantIntValue(length);
  bool isWhole = from && to && inRun && *inRun > 0 && *from % *inRun == 0 && *to % *inRun == 0;
  if (!isWhole) {
    begin = binary<arith::MaxSIOp>(binary<arith::SubIOp>(lower, first), zero);
    end = binary<arith::MinSIOp>(binary<arith::SubIOp>(upper, first), length);
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end, one, runs.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Scope scope(context);
    SmallVector<Value> next(loop.getRegionIterArgs());
    auto set = [&](SmallVectorImpl<Index> &inner) {
      reductionLoops.setIndexInRun(generic, inner, run, loop.getInductionVar());
    };
    if (failed(stepAll(generic, loops, set, next)))
      return failure();
    scf::YieldOp::create(builder, loc, next);
  }
  scf::YieldOp::create(builder, loc, loop.getResults());
  return SmallVector<Value>(runs.getResults());
}

LogicalResult ChainSteps::step(linalg::GenericOp generic, ArrayRef<Index> loops, Value k,
                               MutableArrayRef<Value> accumulators) {
  SmallVector<Index> inner(loops);
  reductionLoops.setIndex(generic, inner, {k, 0, nullptr});
  return stepAt(generic, inner, accumulators);
}

LogicalResult ChainSteps::stepAt(linalg::GenericOp generic, ArrayRef<Index> loops,
                                 MutableArrayRef<Value> accumulators) {
  auto results = accumulate(generic, loops, accumulators);
  if (failed(results))
    return failure();
  for (auto [sum, value] : llvm::zip_equal(accumulators, *results))
    sum = isa<VectorType>(sum.getType()) ? laneValues.splat(value, lanes) : value;
  return success();
}
