// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions (cumsum): one chain per line, each of whose steps is stored. Vectors hold the chains of
// adjacent lines. Where memory runs along the lines, square blocks of lines and steps are read along the
// lines, transposed in registers, and transposed back before they are stored: the steps of a vector of lines
// lie in as many cache lines.

#include "KernelEmitter.h"

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

Nest ScanEmitter::nestOverLines(linalg::GenericOp scan) {
  Value lines = scan.getDpsInits()[1];
  auto lineType = cast<RankedTensorType>(lines.getType());
  Nest nest;
  nest.shape.assign(lineType.getShape().begin(), lineType.getShape().end());
  for (int64_t axis = 0; axis < lineType.getRank(); ++axis)
    nest.sizes.push_back(emitter.kernelArguments.sizeOf(lines, axis));
  return nest;
}

// Axes of the lines as those of the steps, which are the result.
SmallVector<UnitLoop> ScanEmitter::loopsOfSteps(linalg::GenericOp scan, ArrayRef<UnitLoop> loopsOfLines) {
  AffineMap lineMap = scan.getMatchingIndexingMap(scan.getDpsInitOperand(1));
  auto loops = llvm::to_vector(loopsOfLines);
  for (UnitLoop &loop : loops)
    for (int64_t &axis : loop.axes)
      axis = *stepMapOf(scan).getResultPosition(lineMap.getResult(axis));
  return loops;
}

// The first output is stored; the other one carries the accumulator.
LogicalResult ScanEmitter::emitScan(linalg::GenericOp scan, const Nest &nest, const Buffer &destination) {
  AffineMap lineMap = scan.getMatchingIndexingMap(scan.getDpsInitOperand(1));
  Value lines = scan.getDpsInits()[1];
  return emitter.emitNest(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    for (const Position &position : positions) {
      SmallVector<Index> loops = emitter.evaluator.loopsFromOutput(scan, lineMap, position);
      FailureOr<Value> start = emitter.evaluator.evaluateOne(lines, position);
      if (failed(start))
        return failure();
      Value carried = lanes > 1 ? emitter.laneValues.splat(*start, lanes) : *start, from = indexConstant(0);
      if (failed(emitter.scanBlocks(scan, destination, loops, from, carried)))
        return failure();
      if (failed(scanSteps(scan, destination, loops, from, carried)))
        return failure();
    }
    return success();
  });
}

// Single steps from `from` on.
FailureOr<Value> ScanEmitter::scanSteps(linalg::GenericOp scan, const Buffer &destination,
                                        ArrayRef<Index> loops, Value from, Value start) {
  auto loop = scf::ForOp::create(builder, loc, from, emitter.reductions.loopSize(scan, scannedDim(scan)),
                                 indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  KernelEmitter::Scope scope(emitter);
  SmallVector<Index> inner(loops);
  inner[scannedDim(scan)] = {loop.getInductionVar(), 0, nullptr};
  Value carried = loop.getRegionIterArg(0);
  // The step output has no accumulator of its own; its block argument is unused.
  auto values = emitter.evaluator.applyBody(scan, inner, ValueRange{carried, carried});
  if (failed(values))
    return failure();
  emitter.store(destination, emitter.evaluator.apply(stepMapOf(scan), inner), values->front());
  scf::YieldOp::create(builder, loc,
                       lanes > 1 ? emitter.laneValues.splat(values->back(), lanes) : values->back());
  return loop.getResult(0);
}
