// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions (cumsum): a chain at each position of the axes that are not scanned, each of whose steps
// is stored. Vectors hold adjacent chains. If memory is contiguous along the scanned axis, the steps of a
// vector of chains are in as many cache chains; BlockedScan.cpp then transposes square blocks of steps and
// chains in registers.

#include "ScanEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

linalg::GenericOp codegen::scanOf(Value output) {
  auto generic = output.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() == 0 || generic.getNumResults() < 2)
    return nullptr;
  OpOperand *init = generic.getDpsInitOperand(cast<OpResult>(output).getResultNumber());
  bool storesEachStep = generic.getMatchingIndexingMap(init).getNumResults() == generic.getNumLoops();
  return storesEachStep ? generic : linalg::GenericOp();
}

unsigned codegen::scannedDim(linalg::GenericOp scan) {
  SmallVector<unsigned> dims;
  scan.getReductionDims(dims);
  return dims.front();
}

AffineMap codegen::stepMapOf(linalg::GenericOp scan) {
  return scan.getMatchingIndexingMap(scan.getDpsInitOperand(0));
}

Nest ScanEmitter::nestOverChains(linalg::GenericOp scan) {
  Value chains = scan.getDpsInits()[1];
  auto chainType = cast<RankedTensorType>(chains.getType());
  Nest nest;
  nest.shape.assign(chainType.getShape().begin(), chainType.getShape().end());
  for (int64_t axis = 0; axis < chainType.getRank(); ++axis)
    nest.sizes.push_back(arguments.sizeOf(chains, axis));
  return nest;
}

// The axes of the chains as axes of the steps, which are the result.
SmallVector<UnitLoop> ScanEmitter::loopsOfSteps(linalg::GenericOp scan, ArrayRef<UnitLoop> loopsOfChains) {
  AffineMap chainMap = scan.getMatchingIndexingMap(scan.getDpsInitOperand(1));
  auto loops = llvm::to_vector(loopsOfChains);
  for (UnitLoop &loop : loops)
    for (int64_t &axis : loop.axes)
      axis = *stepMapOf(scan).getResultPosition(chainMap.getResult(axis));
  return loops;
}

// The first output is stored; the other one carries the accumulator.
LogicalResult ScanEmitter::emitChains(linalg::GenericOp scan, const Buffer &destination,
                                      ArrayRef<Position> positions) {
  AffineMap chainMap = scan.getMatchingIndexingMap(scan.getDpsInitOperand(1));
  Value chains = scan.getDpsInits()[1];
  for (const Position &position : positions) {
    SmallVector<Index> loops = maps.loopsFromOutput(scan, chainMap, position);
    FailureOr<Value> start = values.evaluateOne(chains, position);
    if (failed(start))
      return failure();
    Value carried = lanes > 1 ? laneValues.splat(*start, lanes) : *start, from = indexConstant(0);
    if (failed(scanBlocks(scan, destination, loops, from, carried)))
      return failure();
    if (failed(scanSteps(scan, destination, loops, from, carried)))
      return failure();
  }
  return success();
}

// Single steps from `from` on.
FailureOr<Value> ScanEmitter::scanSteps(linalg::GenericOp scan, const Buffer &destination,
                                        ArrayRef<Index> loops, Value from, Value start) {
  auto loop = scf::ForOp::create(builder, loc, from, reductionLoops.sizeOf(scan, scannedDim(scan)),
                                 indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<Index> inner(loops);
  inner[scannedDim(scan)] = {loop.getInductionVar(), 0, nullptr};
  Value carried = loop.getRegionIterArg(0);
  // The step output has no accumulator of its own; its block argument is unused.
  auto next = values.applyBody(scan, inner, ValueRange{carried, carried});
  if (failed(next))
    return failure();
  stores.store(destination, maps.apply(stepMapOf(scan), inner), next->front());
  scf::YieldOp::create(builder, loc, lanes > 1 ? laneValues.splat(next->back(), lanes) : next->back());
  return loop.getResult(0);
}
