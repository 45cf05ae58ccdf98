// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions along the axis that is contiguous in memory. A vector holds the same step of adjacent
// chains; square blocks of steps and chains are transposed in registers after loads and before stores.

#include "BlockedScan.h"
#include "../Movement/VectorShuffles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

LogicalResult BlockedScan::scanBlocks(linalg::GenericOp scan, const Buffer &destination,
                                      ArrayRef<Index> loops, Value &step, Value &accumulator) {
  std::optional<unsigned> chainLoop = chainLoopOf(scan, loops);
  if (!chainLoop)
    return success();
  Value width = indexConstant(lanes), size = reductionLoops.sizeOf(scan, scannedDim(scan));
  step = binary<arith::MulIOp>(binary<arith::DivUIOp>(size, width), width);
  FailureOr<Value> accumulators = scanWholeBlocks(scan, destination, loops, *chainLoop, step, accumulator);
  if (failed(accumulators))
    return failure();
  accumulator = *accumulators;
  return success();
}

// The loop whose chains are adjacent lanes of a vector, if memory is contiguous along the scanned axis.
std::optional<unsigned> BlockedScan::chainLoopOf(linalg::GenericOp scan, ArrayRef<Index> loops) {
  ArrayRef<AffineExpr> axes = stepMapOf(scan).getResults();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(scan.getDpsInits()[0].getType()).getShape();
  while (axes.size() > 1 && shape.back() == 1) {
    axes = axes.drop_back();
    shape = shape.drop_back();
  }
  if (lanes == 1 || scan.getNumDpsInputs() != 1 || !stepMapOf(scan).isPermutation() ||
      cast<AffineDimExpr>(axes.back()).getPosition() != scannedDim(scan))
    return std::nullopt;
  for (auto [dim, index] : llvm::enumerate(loops))
    if (dim != scannedDim(scan) && !index.isUniform())
      return index.step == 1 && !index.lanes ? std::optional<unsigned>(dim) : std::nullopt;
  return std::nullopt;
}

// Whole blocks up to `end`. Lanes of a vector that is not full repeat the last chain: it is loaded, summed
// and stored more than once, always before any store of the block.
FailureOr<Value> BlockedScan::scanWholeBlocks(linalg::GenericOp scan, const Buffer &destination,
                                              ArrayRef<Index> loops, unsigned chainLoop, Value end,
                                              Value start) {
  Value last = binary<arith::SubIOp>(reductionLoops.sizeOf(scan, chainLoop), indexConstant(1));
  SmallVector<Value> chains;
  for (int64_t i = 0; i < lanes; ++i) {
    Value number = binary<arith::AddIOp>(loops[chainLoop].base, indexConstant(i));
    chains.push_back(mask ? binary<arith::MinUIOp>(number, last) : number);
  }
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), end, indexConstant(lanes), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<Index> inner(loops);
  inner[scannedDim(scan)] = {loop.getInductionVar(), 0, nullptr};
  Value carried = loop.getRegionIterArg(0);
  if (failed(scanBlock(scan, destination, inner, chains, chainLoop, carried)))
    return failure();
  scf::YieldOp::create(builder, loc, carried);
  return loop.getResult(0);
}

// The indices of a vector of steps of one chain.
SmallVector<Index> BlockedScan::alongChain(linalg::GenericOp scan, ArrayRef<Index> loops, unsigned chainLoop,
                                           Value chain) {
  SmallVector<Index> along(loops);
  along[chainLoop] = {chain, 0, nullptr};
  along[scannedDim(scan)].step = 1;
  return along;
}

// The operand of as many steps as lanes, transposed: one vector of chains for each step.
FailureOr<SmallVector<Value>> BlockedScan::loadBlock(linalg::GenericOp scan, ArrayRef<Index> loops,
                                                     ArrayRef<Value> chains, unsigned chainLoop) {
  Value input = scan.getDpsInputs()[0];
  AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInputOperand(0));
  SmallVector<Value> block;
  for (Value chain : chains) {
    FailureOr<Value> value =
        values.evaluateOne(input, maps.apply(map, alongChain(scan, loops, chainLoop, chain)));
    if (failed(value))
      return failure();
    block.push_back(toMemory(laneValues.splat(*value, lanes)));
  }
  transposeInRegisters(builder, loc, block);
  return block;
}

// Inactive lanes repeat the values of the last chain.
LogicalResult BlockedScan::scanBlock(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                                     ArrayRef<Value> chains, unsigned chainLoop, Value &carried) {
  WithLanes blockCode(context, lanes, nullptr);
  unsigned dim = scannedDim(scan);
  Value input = scan.getDpsInputs()[0];
  AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInputOperand(0));
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  FailureOr<SmallVector<Value>> block = loadBlock(scan, loops, chains, chainLoop);
  if (failed(block))
    return failure();
  for (auto [i, value] : llvm::enumerate(*block)) {
    Scope scope(context);
    SmallVector<Index> step(loops);
    step[dim].base = binary<arith::AddIOp>(loops[dim].base, indexConstant(i));
    remember(input, maps.apply(map, step), fromMemory(value, element));
    auto next = values.applyBody(scan, step, ValueRange{carried, carried});
    if (failed(next))
      return failure();
    value = toMemory(laneValues.splat(next->front(), lanes));
    carried = laneValues.splat(next->back(), lanes);
  }
  transposeInRegisters(builder, loc, *block);
  for (auto [chain, value] : llvm::zip_equal(chains, *block)) {
    SmallVector<Index> along = alongChain(scan, loops, chainLoop, chain);
    stores.store(destination, maps.apply(stepMapOf(scan), along), fromMemory(value, destination.element));
  }
  return success();
}
