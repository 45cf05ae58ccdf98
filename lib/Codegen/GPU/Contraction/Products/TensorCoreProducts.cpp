// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TensorCoreProducts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <numeric>

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

TensorCoreProducts::Fragments TensorCoreProducts::loadFragments(Value stage, int64_t k,
                                                                const WarpTile &part) {
  auto load = [&](const StagedOperand &operand, Value first, int64_t size) {
    SmallVector<SmallVector<Value>> loaded;
    for (int64_t i = 0; i < size; i += MmaFragments::kM)
      loaded.push_back(fragments.load(operand, stage, binary<arith::AddIOp>(first, indexConstant(i)), k));
    return loaded;
  };
  auto a = load(staging.operands[0], part.m, part.rows);
  return {a, load(staging.operands[1], part.n, part.columns)};
}

// A loaded fragment of B holds two fragments of eight columns.
SmallVector<Value> TensorCoreProducts::multiplyFragments(const Fragments &loaded, const WarpTile &part,
                                                         ValueRange accumulators) {
  SmallVector<Value> next(accumulators);
  MutableArrayRef<Value> rest(next);
  for (ArrayRef<Value> a : loaded.a)
    for (int64_t column = 0; column < part.columns; column += MmaFragments::kN) {
      ArrayRef<Value> pair = loaded.b[column / MmaFragments::kM];
      ArrayRef<Value> b = pair.slice(column % MmaFragments::kM / MmaFragments::kN * 2, 2);
      llvm::copy(fragments.multiply(a, b, rest.take_front(MmaFragments::kAccumulators)), rest.begin());
      rest = rest.drop_front(MmaFragments::kAccumulators);
    }
  return next;
}

// With promotion, the sums of the current step come first in the accumulators, and those of the steps before
// follow. Where few registers are taken otherwise, fragments of the next step are loaded before this one.
SmallVector<Value> TensorCoreProducts::multiplyKTile(Value kTile, ValueRange accumulators) {
  Value stage = pipeline.stageOf(kTile);
  WarpTile part = warpTile();
  int64_t fragmentK = MmaFragments::kKBytes / staging.operands[0].elementBytes();
  int64_t count = part.rows * part.columns / kWarpThreads;
  SmallVector<Value> next(accumulators);
  bool loadsAhead = tile.loadsByTma;
  Fragments current = loadFragments(stage, 0, part);
  for (int64_t k = 0; k < tile.k; k += fragmentK) {
    bool isLast = k + fragmentK == tile.k;
    Fragments ahead = loadsAhead && !isLast ? loadFragments(stage, k + fragmentK, part) : Fragments();
    SmallVector<Value> sums = multiplyFragments(current, part, ArrayRef(next).take_front(count));
    llvm::copy(sums, next.begin());
    next = promoteAt(kTile, k + fragmentK, next);
    if (!isLast)
      current = loadsAhead ? std::move(ahead) : loadFragments(stage, k + fragmentK, part);
  }
  return next;
}

// Adds the accumulators to the promoted sums if a promotion step ends at `end` of the K tile. If that depends
// on the number of the tile, the kernel decides it.
SmallVector<Value> TensorCoreProducts::promoteAt(Value kTile, int64_t end, ValueRange accumulators) {
  int64_t promote = promotionStep(contraction.op);
  if (promote == 0 || end % std::gcd(promote, tile.k) != 0)
    return accumulators;
  if (tile.k % promote == 0)
    return addPromoted(accumulators);
  Value done = binary<arith::AddIOp>(binary<arith::MulIOp>(kTile, indexConstant(tile.k)), indexConstant(end));
  Value ends = isEqual(binary<arith::RemUIOp>(done, indexConstant(promote)), 0);
  auto branch = scf::IfOp::create(builder, loc, accumulators.getTypes(), ends, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, addPromoted(accumulators));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, accumulators);
  return branch.getResults();
}

// The next step begins at +0.
SmallVector<Value> TensorCoreProducts::addPromoted(ValueRange accumulators) {
  size_t count = accumulators.size() / 2;
  SmallVector<Value> next(count, zero());
  for (auto [sum, before] : llvm::zip_equal(accumulators.take_front(count), accumulators.drop_front(count)))
    next.push_back(binary<arith::AddFOp>(before, sum));
  return next;
}

Value TensorCoreProducts::zero() {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(accumulatorType()));
}

LogicalResult TensorCoreProducts::loadKTile(const TileOrigin &origin, Value kTile) {
  if (!tile.loadsByTma)
    return swizzled.loadKTile(origin, kTile);
  tma.load(origin, kTile);
  return success();
}

LogicalResult TensorCoreProducts::emit(const TileOrigin &origin) {
  Value kTiles = divideUp(binary<arith::SubIOp>(origin.endK, origin.beginK), tile.k);
  auto load = [&](Value kTile) { return loadKTile(origin, kTile); };
  auto multiply = [&](Value kTile, ValueRange accumulators) -> FailureOr<SmallVector<Value>> {
    swizzled.realignKTile(origin, kTile);
    return multiplyKTile(kTile, accumulators);
  };
  if (failed(pipeline.emitPrologue(kTiles, load)))
    return failure();
  WarpTile part = warpTile();
  int64_t count = part.rows * part.columns / kWarpThreads;
  bool promotes = promotionStep(contraction.op) != 0;
  SmallVector<Value> start(promotes ? 2 * count : count, zero());
  FailureOr<SmallVector<Value>> accumulators = pipeline.emitMainLoop(kTiles, start, load, multiply);
  if (failed(accumulators))
    return failure();
  if (!tile.loadsByTma)
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  // The last step may end with K. Another +0 changes no sum: none of them is -0.
  SmallVector<Value> sums = promotes ? addPromoted(*accumulators) : *accumulators;
  sums = llvm::to_vector(ArrayRef(sums).take_back(count));
  if (!tile.loadsByTma)
    return emitEpilogue(origin, sums);
  Epilogue::OwnThread thread(epilogue);
  if (failed(emitEpilogue(tileMapping.originOf(hiddenCopy(origin.number)), sums)))
    return failure();
  tma.reuseStages();
  return success();
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
  if (!tile.loadsByTma)
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
