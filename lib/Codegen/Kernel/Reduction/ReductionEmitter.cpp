// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions in exactly the order that the kernel specifies: blocks of an ascending chain, or lanes and their
// halving tree, joined by a balanced pairwise tree (docs/numerics.md).

#include "ReductionEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

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
    loops.push_back(maps.loopsFromOutput(generic, map, position));
    for (OpOperand &init : generic.getDpsInitsMutable()) {
      FailureOr<Value> identity = values.evaluateOne(init.get(), position);
      if (failed(identity))
        return failure();
      start.push_back(*identity);
    }
  }
  if (reductionLoops.usesLanes(generic)) {
    SmallVector<Value> accumulators;
    for (auto [loop, identity, position] : llvm::zip_equal(loops, start, positions)) {
      FailureOr<Value> sum = reduceLanes(generic, loop, identity, position);
      if (failed(sum))
        return failure();
      accumulators.push_back(*sum);
    }
    return accumulators;
  }
  if (lanes > 1)
    for (Value &value : start)
      value = laneValues.splat(value, lanes);
  if (generic.getNumResults() == 1)
    return reduceBlocks(generic, loops, start, positions);
  return wholeChain(generic, loops, start, positions);
}

FailureOr<SmallVector<Value>> ReductionEmitter::reduceBlocks(linalg::GenericOp generic,
                                                             ArrayRef<SmallVector<Index>> loops,
                                                             ArrayRef<Value> identities,
                                                             ArrayRef<Position> positions) {
  OrderAttr order = kernel.getOrderAttr();
  auto block = [&](Value lower, Value upper) {
    return chains.chain(generic, loops, identities, lower, upper);
  };
  if (!order || order.hasLanes())
    return block(indexConstant(0), reductionLoops.total(generic));
  return orderedTree(generic, identities, positions, block, 1);
}

// One tree over the results of chunks.
FailureOr<Value> ReductionEmitter::reduceChunks(linalg::GenericOp generic, SmallVector<Index> loops,
                                                Value identity, const Position &position) {
  OrderAttr order = kernel.getOrderAttr();
  auto chunk = [&](Value lower, Value upper) -> FailureOr<SmallVector<Value>> {
    FailureOr<Value> sum = laneChunk(generic, loops, identity, lower, upper, order.getLanes());
    if (failed(sum))
      return failure();
    return SmallVector<Value>{*sum};
  };
  auto accumulators = orderedTree(generic, identity, position, chunk, 1);
  if (failed(accumulators))
    return failure();
  return accumulators->front();
}

FailureOr<SmallVector<Value>> ReductionEmitter::orderedTree(linalg::GenericOp generic,
                                                            ArrayRef<Value> identities,
                                                            ArrayRef<Position> positions, BlockCode block,
                                                            int64_t blocksPerLeaf) {
  return tree.joinBlocks(reductionLoops.total(generic), blocksPerLeaf * kernel.getOrderAttr().getPartLength(),
                         identities, combiningOp(generic), block);
}

FailureOr<SmallVector<Value>> ReductionEmitter::wholeChain(linalg::GenericOp generic,
                                                           ArrayRef<SmallVector<Index>> loops,
                                                           ArrayRef<Value> start, ArrayRef<Position>) {
  return chains.chain(generic, loops, start, indexConstant(0), reductionLoops.total(generic));
}
