// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions along the axis that is contiguous in memory. A vector holds the same step of adjacent
// chains; squares of steps and chains are transposed in registers after loads and before stores.

#include "BlockedScan.h"
#include "../Movement/VectorShuffles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

LogicalResult BlockedScan::scanVectors(linalg::GenericOp scan, const Buffer &destination,
                                       ArrayRef<Index> loops, const Block &block, Value &step,
                                       Value &accumulator) {
  std::optional<unsigned> chainLoop = chainLoopOf(scan, loops);
  if (!chainLoop)
    return success();
  Value width = indexConstant(lanes), size = binary<arith::SubIOp>(block.upper, block.lower);
  Value whole = binary<arith::MulIOp>(binary<arith::DivUIOp>(size, width), width);
  Block squares{block.lower, binary<arith::AddIOp>(block.lower, whole), block.carry};
  FailureOr<Value> last = scanSquares(scan, destination, loops, *chainLoop, squares, accumulator);
  if (failed(last))
    return failure();
  step = squares.upper;
  accumulator = *last;
  return success();
}

// The loop whose chains are adjacent lanes of a vector, if memory is contiguous along the scanned axis.
std::optional<unsigned> BlockedScan::chainLoopOf(linalg::GenericOp scan, ArrayRef<Index> loops) {
  if (lanes == 1 || scan.getNumDpsInputs() != 1 || !isContiguousScan(scan))
    return std::nullopt;
  for (auto [dim, index] : llvm::enumerate(loops))
    if (dim != scannedDim(scan) && !index.isUniform())
      return index.step == 1 && !index.lanes ? std::optional<unsigned>(dim) : std::nullopt;
  return std::nullopt;
}

// Lanes of a vector that is not full repeat the last chain: it is loaded and stored more than once, always
// before any store of the square.
FailureOr<Value> BlockedScan::scanSquares(linalg::GenericOp scan, const Buffer &destination,
                                          ArrayRef<Index> loops, unsigned chainLoop, const Block &squares,
                                          Value start) {
  Value last = binary<arith::SubIOp>(reductionLoops.sizeOf(scan, chainLoop), indexConstant(1));
  SmallVector<Value> chains;
  for (int64_t i = 0; i < lanes; ++i) {
    Value number = binary<arith::AddIOp>(loops[chainLoop].base, indexConstant(i));
    chains.push_back(mask ? binary<arith::MinUIOp>(number, last) : number);
  }
  auto loop = scf::ForOp::create(builder, loc, squares.lower, squares.upper, indexConstant(lanes), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<Index> inner(loops);
  inner[scannedDim(scan)] = {loop.getInductionVar(), 0, nullptr};
  Value accumulator = loop.getRegionIterArg(0);
  prefetcher.prefetchChainsAhead(scan, inner, scannedDim(scan), loop.getInductionVar());
  if (failed(scanSquare(scan, destination, inner, chains, chainLoop, squares.carry, accumulator)))
    return failure();
  scf::YieldOp::create(builder, loc, accumulator);
  return loop.getResult(0);
}

SmallVector<Index> BlockedScan::alongSteps(linalg::GenericOp scan, ArrayRef<Index> loops, Value first) {
  SmallVector<Index> along(loops);
  along[scannedDim(scan)] = {first, 1, nullptr};
  return along;
}

// The indices of a vector of steps of one chain.
SmallVector<Index> BlockedScan::alongChain(linalg::GenericOp scan, ArrayRef<Index> loops, unsigned chainLoop,
                                           Value chain) {
  SmallVector<Index> along = alongSteps(scan, loops, loops[scannedDim(scan)].base);
  along[chainLoop] = {chain, 0, nullptr};
  return along;
}

// The operand of as many steps as lanes, transposed: one vector of chains for each step.
FailureOr<SmallVector<Value>> BlockedScan::loadSquare(linalg::GenericOp scan, ArrayRef<Index> loops,
                                                      ArrayRef<Value> chains, unsigned chainLoop) {
  Value input = scan.getDpsInputs()[0];
  AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInputOperand(0));
  SmallVector<Value> square;
  for (Value chain : chains) {
    FailureOr<Value> value =
        values.evaluateOne(input, maps.apply(map, alongChain(scan, loops, chainLoop, chain)));
    if (failed(value))
      return failure();
    square.push_back(toMemory(laneValues.splat(*value, lanes)));
  }
  transposeInRegisters(builder, loc, square);
  return square;
}

LogicalResult BlockedScan::scanSquare(linalg::GenericOp scan, const Buffer &destination,
                                      ArrayRef<Index> loops, ArrayRef<Value> chains, unsigned chainLoop,
                                      Value carry, Value &accumulator) {
  WithLanes squareCode(context, lanes, nullptr);
  unsigned dim = scannedDim(scan);
  Value input = scan.getDpsInputs()[0];
  AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInputOperand(0));
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  FailureOr<SmallVector<Value>> square = loadSquare(scan, loops, chains, chainLoop);
  if (failed(square))
    return failure();
  for (auto [i, value] : llvm::enumerate(*square)) {
    Scope scope(context);
    SmallVector<Index> step(loops);
    step[dim].base = binary<arith::AddIOp>(loops[dim].base, indexConstant(i));
    remember(input, maps.apply(map, step), fromMemory(value, element));
    FailureOr<Value> next = nextOf(scan, step, accumulator);
    if (failed(next))
      return failure();
    FailureOr<Value> result = resultOf(scan, step, carry, accumulator, *next);
    if (failed(result))
      return failure();
    value = toMemory(laneValues.splat(*result, lanes));
    accumulator = *next;
  }
  transposeInRegisters(builder, loc, *square);
  // Lanes that repeat the last chain may have started elsewhere, or know other indices: it is stored after
  // them.
  for (auto [chain, value] : llvm::reverse(llvm::zip_equal(chains, *square))) {
    SmallVector<Index> along = alongChain(scan, loops, chainLoop, chain);
    stores.store(destination, maps.apply(stepMapOf(scan), along), fromMemory(value, destination.element));
  }
  return success();
}
