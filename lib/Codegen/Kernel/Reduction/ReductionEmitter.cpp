// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions in exactly the order that the kernel specifies: blocks of an ascending chain, or lanes and their
// halving tree, joined by a balanced pairwise tree (docs/numerics.md).

#include "../KernelEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

// Null for one chain, which has nothing to join: the verifier keeps it from orders that join.
Operation *codegen::combiningOp(linalg::GenericOp generic) { return matchReduction(generic).combiner; }

Value ReductionEmitter::joinValues(Operation *join, Value lhs, Value rhs) {
  return joinPartialResults(builder, loc, join, lhs, rhs);
}

bool ReductionEmitter::usesLanes(linalg::GenericOp generic) {
  OrderAttr order = kernel.getOrderAttr();
  return order && order.isLanes() && generic.getNumResults() == 1 && generic.getNumReductionLoops() > 0;
}

static SmallVector<unsigned> reductionDims(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  return dims;
}

// Sets the reduced loops from one running index, the last loop fastest.
void ReductionEmitter::setReductionIndex(linalg::GenericOp generic, SmallVectorImpl<Index> &loops,
                                         const Index &linear) {
  SmallVector<unsigned> dims = reductionDims(generic);
  if (dims.size() == 1) {
    loops[dims.front()] = linear;
    return;
  }
  bool isVector = linear.lanes || (linear.step != 0 && lanes > 1);
  Value rest = isVector ? emitter.laneValues.laneVector(linear) : linear.base;
  for (auto [i, dim] : llvm::enumerate(llvm::reverse(dims))) {
    Value index = rest;
    if (i + 1 < dims.size()) {
      Value size = loopSize(generic, dim);
      if (isVector)
        size = emitter.laneValues.splat(size, lanes);
      index = binary<arith::RemUIOp>(rest, size);
      rest = binary<arith::DivUIOp>(rest, size);
    }
    loops[dim] = isVector ? Index{nullptr, 0, index} : Index{index, 0, nullptr};
  }
}

// The extent of one loop, from an operand that it indexes directly.
Value ReductionEmitter::loopSize(linalg::GenericOp generic, unsigned dim) {
  for (OpOperand &operand : generic->getOpOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (auto d = dyn_cast<AffineDimExpr>(expr); d && d.getPosition() == dim)
        return emitter.kernelArguments.sizeOf(operand.get(), axis);
  }
  return nullptr;
}

FailureOr<SmallVector<Value>> ReductionEmitter::reduce(linalg::GenericOp generic, unsigned result,
                                                       ArrayRef<Position> positions) {
  FailureOr<SmallVector<Value>> all = reduceAll(generic, result, positions);
  if (failed(all) || generic.getNumResults() == 1)
    return all;
  SmallVector<Value> picked;
  for (size_t i = result; i < all->size(); i += generic.getNumResults())
    picked.push_back((*all)[i]);
  return picked;
}

FailureOr<SmallVector<Value>> ReductionEmitter::reduceAll(linalg::GenericOp generic, unsigned result,
                                                          ArrayRef<Position> positions) {
  SmallVector<SmallVector<Index>> loops;
  SmallVector<Value> start;
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(result));
  for (const Position &position : positions) {
    loops.push_back(emitter.evaluator.loopsFromOutput(generic, map, position));
    for (OpOperand &init : generic.getDpsInitsMutable()) {
      FailureOr<Value> identity = emitter.evaluator.evaluateOne(init.get(), position);
      if (failed(identity))
        return failure();
      start.push_back(*identity);
    }
  }
  if (usesLanes(generic)) {
    SmallVector<Value> accumulators;
    for (auto [loop, identity, position] : llvm::zip_equal(loops, start, positions)) {
      FailureOr<Value> sum = emitter.reduceLanes(generic, loop, identity, position);
      if (failed(sum))
        return failure();
      accumulators.push_back(*sum);
    }
    return accumulators;
  }
  if (lanes > 1)
    for (Value &value : start)
      value = emitter.laneValues.splat(value, lanes);
  if (generic.getNumResults() == 1)
    return emitter.reduceBlocks(generic, loops, start, positions);
  return emitter.wholeChain(generic, loops, start, positions);
}

FailureOr<SmallVector<Value>> ReductionEmitter::reduceBlocks(linalg::GenericOp generic,
                                                             ArrayRef<SmallVector<Index>> loops,
                                                             ArrayRef<Value> identities,
                                                             ArrayRef<Position> positions) {
  OrderAttr order = kernel.getOrderAttr();
  auto block = [&](Value lower, Value upper) { return chain(generic, loops, identities, lower, upper); };
  if (!order || order.isLanes())
    return block(indexConstant(0), reducedTotal(generic));
  return emitter.orderedTree(generic, identities, positions, block, 1);
}

// acc = body(k, acc) for ascending k, all positions in one loop. `start` has the accumulators of the first
// position, then those of the next.
FailureOr<SmallVector<Value>> ReductionEmitter::chain(linalg::GenericOp generic,
                                                      ArrayRef<SmallVector<Index>> loops,
                                                      ArrayRef<Value> start, Value lower, Value upper) {
  if (failed(emitter.hoisting.hoistReduced(generic, loops)))
    return failure();
  return emitter.hoistedChain(generic, loops, start, lower, upper);
}

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

FailureOr<SmallVector<Value>> ReductionEmitter::plainChain(linalg::GenericOp generic,
                                                           ArrayRef<SmallVector<Index>> loops,
                                                           ArrayRef<Value> start, Value lower, Value upper) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  KernelEmitter::Scope scope(emitter);
  SmallVector<Value> next(loop.getRegionIterArgs());
  unsigned count = generic.getNumResults();
  for (size_t i : orderForRegisters(loops))
    if (failed(chainStep(generic, loops[i], loop.getInductionVar(),
                         MutableArrayRef(next).slice(i * count, count))))
      return failure();
  emitter.afterChainStep(generic, loops, loop.getInductionVar());
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

// One step of the chain of one position: `accumulators` are replaced by the next ones.
LogicalResult ReductionEmitter::chainStep(linalg::GenericOp generic, ArrayRef<Index> loops, Value k,
                                          MutableArrayRef<Value> accumulators) {
  SmallVector<Index> inner(loops);
  setReductionIndex(generic, inner, {k, 0, nullptr});
  auto results = emitter.accumulate(generic, inner, accumulators);
  if (failed(results))
    return failure();
  for (auto [sum, value] : llvm::zip_equal(accumulators, *results))
    sum = isa<VectorType>(sum.getType()) ? emitter.laneValues.splat(value, lanes) : value;
  return success();
}

// One tree over the results of chunks.
FailureOr<Value> ReductionEmitter::reduceChunks(linalg::GenericOp generic, SmallVector<Index> loops,
                                                Value identity, const Position &position) {
  OrderAttr order = kernel.getOrderAttr();
  auto chunk = [&](Value lower, Value upper) -> FailureOr<SmallVector<Value>> {
    FailureOr<Value> sum = emitter.laneChunk(generic, loops, identity, lower, upper, order.getLanes());
    if (failed(sum))
      return failure();
    return SmallVector<Value>{*sum};
  };
  auto accumulators = emitter.orderedTree(generic, identity, position, chunk, 1);
  if (failed(accumulators))
    return failure();
  return accumulators->front();
}

Value ReductionEmitter::reducedTotal(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  Value total = indexConstant(1);
  for (unsigned dim : dims)
    total = binary<arith::MulIOp>(total, loopSize(generic, dim));
  return total;
}
