// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions that interleave several blocks of the order in one loop. Each addition of a chain waits for the
// one before it, three or four cycles; a tile with few results has too few chains to hide that latency.
// Blocks are independent of each other: an iteration adds one element to each block of a group of consecutive
// blocks, and the group's results are joined to a node of the pairwise tree.

#include "InterleavedBlocks.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Chains that hide the latency of an addition.
static constexpr int64_t kChains = kCore.additionLatency * kCore.additionsPerCycle;

// The number of blocks in one loop: a power of two, 1 if there are enough chains or if a step is longer
// than its latency. `loops` has one entry for each result of the tile. Contractions, which have two operands,
// fill the registers of CPUs with AVX2.
int64_t InterleavedBlocks::interleavedBlocks(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops) {
  bool isCheapSum = vectorLanes > 1 && generic.getNumDpsInputs() == 1 && partialTrees.isDivisible(generic) &&
                    generic.getNumReductionLoops() == 1 && !isExpensive(generic) &&
                    !dependsOn(generic.getDpsInputs().front(), isExpensive) &&
                    !panels.operands.count(generic.getDpsInputOperand(0)) &&
                    transposedOperands.operandsToTranspose(generic, loops.front()).empty();
  int64_t maxBlocks = isCheapSum ? std::max<int64_t>(1, kChains / int64_t(loops.size())) : 1;
  int64_t blocks = llvm::bit_floor(uint64_t(maxBlocks));
  int64_t total = reducedElements(generic), length = kernel.getOrderAttr().getPartLength();
  if (auto found = partialTrees.partials.find(generic); found != partialTrees.partials.end())
    total = found->second.length;
  return !ShapedType::isDynamic(total) && total < blocks * length ? 1 : blocks;
}

// One step in each block: the state holds the accumulators of the first block, then those of the next.
FailureOr<SmallVector<Value>> InterleavedBlocks::interleavedChains(linalg::GenericOp generic,
                                                                   ArrayRef<SmallVector<Index>> loops,
                                                                   ArrayRef<Value> start, Value lower,
                                                                   int64_t blocks) {
  if (failed(hoisting.hoistReduced(generic, loops)))
    return failure();
  int64_t length = kernel.getOrderAttr().getPartLength();
  SmallVector<Value> state;
  for (int64_t block = 0; block < blocks; ++block)
    llvm::append_range(state, start);
  Value end = binary<arith::AddIOp>(lower, indexConstant(length));
  auto loop = scf::ForOp::create(builder, loc, lower, end, indexConstant(1), state);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<Value> next(loop.getRegionIterArgs());
  for (int64_t block = 0; block < blocks; ++block) {
    Value k = binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(block * length));
    for (auto [i, position] : llvm::enumerate(loops))
      if (failed(chainSteps.step(generic, position, k,
                                 MutableArrayRef(next).slice(block * start.size() + i, 1))))
        return failure();
  }
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

// The balanced pairwise tree of a whole group. `values` holds the results of the first block, then those of
// the next.
SmallVector<Value> InterleavedBlocks::joinBlocks(Operation *join, SmallVector<Value> values, size_t results) {
  while (values.size() > results) {
    SmallVector<Value> joined;
    for (size_t left = 0; left < values.size(); left += 2 * results)
      for (size_t i = left; i < left + results; ++i)
        joined.push_back(joinPartialResults(builder, loc, join, values[i], values[i + results]));
    values = std::move(joined);
  }
  return values;
}

// The results of elements lower to upper: a whole group, or the last blocks one after the other.
FailureOr<SmallVector<Value>> InterleavedBlocks::interleavedGroup(linalg::GenericOp generic,
                                                                  ArrayRef<SmallVector<Index>> loops,
                                                                  ArrayRef<Value> identities, Value lower,
                                                                  Value upper, int64_t blocks) {
  Operation *join = combiningOp(generic);
  int64_t length = kernel.getOrderAttr().getPartLength();
  Value size = binary<arith::SubIOp>(upper, lower);
  Value isWhole =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, size, indexConstant(blocks * length));
  auto branch =
      scf::IfOp::create(builder, loc, ValueRange(identities).getTypes(), isWhole, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(builder);
  {
    builder.setInsertionPointToStart(branch.thenBlock());
    Scope scope(context);
    auto values = interleavedChains(generic, loops, identities, lower, blocks);
    if (failed(values))
      return failure();
    scf::YieldOp::create(builder, loc, joinBlocks(join, std::move(*values), identities.size()));
  }
  builder.setInsertionPointToStart(branch.elseBlock());
  Scope scope(context);
  auto values = tree.joinBlocks(size, length, identities, join, [&](Value from, Value to) {
    return reductionChains.chain(generic, loops, identities, binary<arith::AddIOp>(lower, from),
                                 binary<arith::AddIOp>(lower, to));
  });
  if (failed(values))
    return failure();
  scf::YieldOp::create(builder, loc, *values);
  return SmallVector<Value>(branch.getResults());
}
