// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions (cumsum): one chain per line, each of whose steps is stored. Vectors hold the chains of
// neighbouring lines. Where memory runs along the lines, square blocks of lines and steps are read along the
// lines, transposed in registers, and transposed back before they are stored: the steps of a vector of lines
// lie in as many cache lines.

#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static unsigned scannedDim(linalg::GenericOp scan) {
  SmallVector<unsigned> dims;
  scan.getReductionDims(dims);
  return dims.front();
}

static AffineMap stepMapOf(linalg::GenericOp scan) {
  return scan.getMatchingIndexingMap(scan.getDpsInitOperand(0));
}

Nest ScanEmitter::nestOverLines(linalg::GenericOp scan) {
  Value lines = scan.getDpsInits()[1];
  auto lineType = cast<RankedTensorType>(lines.getType());
  Nest nest;
  nest.shape.assign(lineType.getShape().begin(), lineType.getShape().end());
  for (int64_t axis = 0; axis < lineType.getRank(); ++axis)
    nest.sizes.push_back(emitter.sizeOf(lines, axis));
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
      Value carried = lanes > 1 ? emitter.splat(*start, lanes) : *start, from = indexConstant(0);
      if (std::optional<unsigned> line = scannedLineDim(scan, loops)) {
        Value width = indexConstant(lanes), size = emitter.reductions.loopSize(scan, scannedDim(scan));
        from = binary<arith::MulIOp>(binary<arith::DivUIOp>(size, width), width);
        FailureOr<Value> sums = scanBlocks(scan, destination, loops, *line, from, carried);
        if (failed(sums))
          return failure();
        carried = *sums;
      }
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
  scf::YieldOp::create(builder, loc, lanes > 1 ? emitter.splat(values->back(), lanes) : values->back());
  return loop.getResult(0);
}

// The dimension of the lines that lie side by side in a vector, when memory runs along the scanned one.
std::optional<unsigned> ScanEmitter::scannedLineDim(linalg::GenericOp scan, ArrayRef<Index> loops) {
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

// Whole blocks up to `end`. In a vector that is not full the last line stands in the other lanes: it is read,
// summed and stored more than once, always before anything of the block is stored.
FailureOr<Value> ScanEmitter::scanBlocks(linalg::GenericOp scan, const Buffer &destination,
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
  KernelEmitter::Scope scope(emitter);
  SmallVector<Index> inner(loops);
  inner[scannedDim(scan)] = {loop.getInductionVar(), 0, nullptr};
  Value carried = loop.getRegionIterArg(0);
  if (failed(scanBlock(scan, destination, inner, lines, line, carried)))
    return failure();
  scf::YieldOp::create(builder, loc, carried);
  return loop.getResult(0);
}

LogicalResult ScanEmitter::scanBlock(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                                     ArrayRef<Value> lines, unsigned line, Value &carried) {
  // Values of the last line stand in the lanes that are not active.
  KernelEmitter::WithLanes blockCode(emitter, lanes, nullptr);
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
    block.push_back(emitter.memoryAccess.toMemory(emitter.splat(*value, lanes)));
  }
  emitter.registerTranspose.transposeInRegisters(block);
  for (auto [i, value] : llvm::enumerate(block)) {
    KernelEmitter::Scope scope(emitter);
    SmallVector<Index> step(loops);
    step[dim].base = binary<arith::AddIOp>(loops[dim].base, indexConstant(i));
    emitter.evaluator.remember(input, emitter.evaluator.apply(map, step),
                               emitter.memoryAccess.fromMemory(value, element));
    auto values = emitter.evaluator.applyBody(scan, step, ValueRange{carried, carried});
    if (failed(values))
      return failure();
    value = emitter.memoryAccess.toMemory(emitter.splat(values->front(), lanes));
    carried = emitter.splat(values->back(), lanes);
  }
  emitter.registerTranspose.transposeInRegisters(block);
  for (auto [number, value] : llvm::zip_equal(lines, block))
    emitter.store(destination, emitter.evaluator.apply(stepMapOf(scan), alongLine(number)),
                  emitter.memoryAccess.fromMemory(value, destination.element));
  return success();
}
