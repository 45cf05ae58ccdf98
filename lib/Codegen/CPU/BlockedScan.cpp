// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions along the axis that is contiguous in memory. A vector holds one step of as many lines;
// blocks of steps and lines are transposed in registers on their way from and to memory.

#include "CPUKernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

LogicalResult BlockedScan::emitBlocks(linalg::GenericOp scan, const Buffer &destination,
                                      ArrayRef<Index> loops, Value &step, Value &accumulator) {
  std::optional<unsigned> line = scannedLineDim(scan, loops);
  if (!line)
    return success();
  Value width = indexConstant(lanes), size = emitter.reductions.loopSize(scan, scannedDim(scan));
  step = binary<arith::MulIOp>(binary<arith::DivUIOp>(size, width), width);
  FailureOr<Value> accumulators = scanBlocks(scan, destination, loops, *line, step, accumulator);
  if (failed(accumulators))
    return failure();
  accumulator = *accumulators;
  return success();
}

// The dimension of the lines that are adjacent lanes of a vector, if memory is contiguous along the scan.
std::optional<unsigned> BlockedScan::scannedLineDim(linalg::GenericOp scan, ArrayRef<Index> loops) {
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

// Whole blocks up to `end`. Lanes of a vector that is not full repeat the last line: it is loaded, summed and
// stored more than once, always before any store of the block.
FailureOr<Value> BlockedScan::scanBlocks(linalg::GenericOp scan, const Buffer &destination,
                                         ArrayRef<Index> loops, unsigned line, Value end, Value start) {
  Value last = binary<arith::SubIOp>(emitter.reductions.loopSize(scan, line), indexConstant(1));
  SmallVector<Value> lines;
  for (int64_t i = 0; i < lanes; ++i) {
    Value number = binary<arith::AddIOp>(loops[line].base, indexConstant(i));
    lines.push_back(mask ? binary<arith::MinUIOp>(number, last) : number);
  }
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), end, indexConstant(lanes), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  CPUKernelEmitter::Scope scope(emitter);
  SmallVector<Index> inner(loops);
  inner[scannedDim(scan)] = {loop.getInductionVar(), 0, nullptr};
  Value carried = loop.getRegionIterArg(0);
  if (failed(scanBlock(scan, destination, inner, lines, line, carried)))
    return failure();
  scf::YieldOp::create(builder, loc, carried);
  return loop.getResult(0);
}

LogicalResult BlockedScan::scanBlock(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                                     ArrayRef<Value> lines, unsigned line, Value &carried) {
  // Inactive lanes repeat the values of the last line.
  CPUKernelEmitter::WithLanes blockCode(emitter, lanes, nullptr);
  unsigned dim = scannedDim(scan);
  auto alongLine = [&](Value number) {
    SmallVector<Index> along(loops);
    along[line] = {number, 0, nullptr};
    along[dim].step = 1;
    return along;
  };
  Value input = scan.getDpsInputs()[0];
  AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInputOperand(0));
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  SmallVector<Value> block;
  for (Value number : lines) {
    FailureOr<Value> value =
        emitter.evaluator.evaluateOne(input, emitter.evaluator.apply(map, alongLine(number)));
    if (failed(value))
      return failure();
    block.push_back(emitter.memoryAccess.toMemory(emitter.laneValues.splat(*value, lanes)));
  }
  emitter.registerTranspose.transposeInRegisters(block);
  for (auto [i, value] : llvm::enumerate(block)) {
    CPUKernelEmitter::Scope scope(emitter);
    SmallVector<Index> step(loops);
    step[dim].base = binary<arith::AddIOp>(loops[dim].base, indexConstant(i));
    emitter.evaluator.remember(input, emitter.evaluator.apply(map, step),
                               emitter.memoryAccess.fromMemory(value, element));
    auto values = emitter.evaluator.applyBody(scan, step, ValueRange{carried, carried});
    if (failed(values))
      return failure();
    value = emitter.memoryAccess.toMemory(emitter.laneValues.splat(values->front(), lanes));
    carried = emitter.laneValues.splat(values->back(), lanes);
  }
  emitter.registerTranspose.transposeInRegisters(block);
  for (auto [number, value] : llvm::zip_equal(lines, block))
    emitter.store(destination, emitter.evaluator.apply(stepMapOf(scan), alongLine(number)),
                  emitter.memoryAccess.fromMemory(value, destination.element));
  return success();
}
