// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TensorCoreProducts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

TensorCoreProducts::WarpTile TensorCoreProducts::warpTile() {
  Value warp = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads)),
        warpsN = indexConstant(tile.warpsN);
  WarpTile part{tile.m / tile.warpsM, tile.n / tile.warpsN, {}, {}, {}};
  part.warpM = binary<arith::DivUIOp>(warp, warpsN);
  part.m = binary<arith::MulIOp>(part.warpM, indexConstant(part.rows));
  part.n = binary<arith::MulIOp>(binary<arith::RemUIOp>(warp, warpsN), indexConstant(part.columns));
  return part;
}

// A loaded fragment of B holds two fragments of eight columns.
SmallVector<Value> TensorCoreProducts::multiplyKTile(Value stage, ValueRange accumulators) {
  const StagedOperand &operandA = staging.operands[0], &operandB = staging.operands[1];
  WarpTile part = warpTile();
  int64_t fragmentK = MmaFragments::kKBytes / operandA.elementBytes();
  SmallVector<Value> next(accumulators);
  for (int64_t k = 0; k < tile.k; k += fragmentK) {
    auto load = [&](const StagedOperand &operand, Value first, int64_t size) {
      SmallVector<SmallVector<Value>> loaded;
      for (int64_t i = 0; i < size; i += MmaFragments::kM)
        loaded.push_back(fragments.load(operand, stage, binary<arith::AddIOp>(first, indexConstant(i)), k));
      return loaded;
    };
    auto fragmentsA = load(operandA, part.m, part.rows);
    auto fragmentsB = load(operandB, part.n, part.columns);
    MutableArrayRef<Value> rest(next);
    for (ArrayRef<Value> a : fragmentsA)
      for (int64_t column = 0; column < part.columns; column += MmaFragments::kN) {
        ArrayRef<Value> pair = fragmentsB[column / MmaFragments::kM];
        ArrayRef<Value> b = pair.slice(column % MmaFragments::kM / MmaFragments::kN * 2, 2);
        llvm::copy(fragments.multiply(a, b, rest.take_front(MmaFragments::kAccumulators)), rest.begin());
        rest = rest.drop_front(MmaFragments::kAccumulators);
      }
  }
  return next;
}

LogicalResult TensorCoreProducts::emit(const TileOrigin &origin) {
  Value kTiles = divideUp(tileMapping.sizeK(), tile.k);
  auto load = [&](Value kTile) { return swizzled.loadKTile(origin, kTile); };
  auto multiply = [&](Value kTile, ValueRange accumulators) -> FailureOr<SmallVector<Value>> {
    return multiplyKTile(binary<arith::RemUIOp>(kTile, indexConstant(tile.stages)), accumulators);
  };
  if (failed(pipeline.emitPrologue(kTiles, load)))
    return failure();
  WarpTile part = warpTile();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(accumulatorType()));
  SmallVector<Value> start(part.rows * part.columns / kWarpThreads, zero);
  FailureOr<SmallVector<Value>> accumulators = pipeline.emitMainLoop(kTiles, start, load, multiply);
  if (failed(accumulators))
    return failure();
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  return emitEpilogue(origin, *accumulators);
}

// Each pass stores some rows of every warp, which frees their registers for the next passes.
LogicalResult TensorCoreProducts::emitEpilogue(const TileOrigin &origin, ValueRange accumulators) {
  WarpTile part = warpTile();
  int64_t rowsPerPass = epilogue.rowsPerPass(), rows = rowsPerPass / tile.warpsM;
  int64_t count = rows * part.columns / kWarpThreads;
  for (int64_t first = 0; first < part.rows; first += rows, accumulators = accumulators.drop_front(count)) {
    StagedAccumulators staged = epilogue.stagedByBlock(first, rowsPerPass);
    staged.groupRows = rows;
    staged.groupStride = part.rows;
    mapping.synchronizeBlock();
    stage(staged, part, accumulators.take_front(count));
    mapping.synchronizeBlock();
    if (failed(epilogue.emit(origin, staged)))
      return failure();
  }
  mapping.synchronizeBlock();
  return success();
}

// PTX ISA, accumulators of mma.m16n8: a thread has two adjacent columns of a row, and of the row eight below.
void TensorCoreProducts::stage(const StagedAccumulators &staged, const WarpTile &part,
                               ValueRange accumulators) {
  Value four = indexConstant(4), two = indexConstant(2);
  Value firstRow = binary<arith::MulIOp>(part.warpM, indexConstant(staged.groupRows));
  Value laneRow = binary<arith::AddIOp>(firstRow, binary<arith::DivUIOp>(mapping.lane, four));
  Value laneColumn = binary<arith::MulIOp>(binary<arith::RemUIOp>(mapping.lane, four), two);
  laneColumn = binary<arith::AddIOp>(part.n, laneColumn);
  for (int64_t row = 0; row < staged.groupRows; row += MmaFragments::kM)
    for (int64_t column = 0; column < part.columns; column += MmaFragments::kN)
      for (int64_t half = 0; half < 2; ++half, accumulators = accumulators.drop_front(2)) {
        Value inRow = binary<arith::AddIOp>(laneRow, indexConstant(row + half * 8));
        Value inColumn = binary<arith::AddIOp>(laneColumn, indexConstant(column));
        epilogue.stage(staged, inRow, inColumn, accumulators.take_front(2));
      }
}
