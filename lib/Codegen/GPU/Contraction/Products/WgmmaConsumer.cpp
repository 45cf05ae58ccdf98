// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "WgmmaConsumer.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// The accumulator layout of `wgmma` repeats every eight columns, of which a thread has two in each of two
// rows.
static constexpr int64_t kGroupColumns = 8, kGroupAccumulators = 4;

LogicalResult WgmmaConsumer::emit(Value warpgroup) {
  return scheduler.forEachTile([&](const TileOrigin &origin, Value before) {
    return emitEpilogue(origin, multiplyTile(warpgroup, before));
  });
}

// One K tile stays in flight: the wait is for the K tile before it, whose stage is then released.
Value WgmmaConsumer::multiplyTile(Value warpgroup, Value before) {
  Value inWarpgroup = binary<arith::RemUIOp>(mapping.threadInBlock, indexConstant(kWarpgroupThreads));
  Value releases = isBelow(inWarpgroup, indexConstant(tile.clusterSize));
  Value one = indexConstant(1), count = scheduler.kTileCount();
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), count, one,
                                 ValueRange{zeroAccumulators(builder, loc, accumulatorType(), tile.n)});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), kTile = binary<arith::AddIOp>(before, number);
    stages.pipeline().waitFull(kTile);
    Value accumulators = multiplyKTile(warpgroup, kTile, loop.getRegionIterArg(0));
    NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 1);
    Value later = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, number, indexConstant(0));
    release(binary<arith::SubIOp>(kTile, one), inWarpgroup, binary<arith::AndIOp>(releases, later));
    scf::YieldOp::create(builder, loc, accumulators);
  }
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
  release(binary<arith::SubIOp>(binary<arith::AddIOp>(before, count), one), inWarpgroup, releases);
  return loop.getResult(0);
}

// One thread of the warpgroup for each block of the cluster.
void WgmmaConsumer::release(Value kTile, Value block, Value condition) {
  (void)emitIf(condition, [&] {
    stages.pipeline().release(kTile, block);
    return success();
  });
}

Value WgmmaConsumer::descriptorOf(const TmaOperand &operand, Value kTile, Value byte) {
  Value start = binary<arith::AddIOp>(indexConstant(operand.offset), byte);
  return operand.tile.describe(builder, loc, stages.pipeline().pointerTo(kTile, start));
}

Value WgmmaConsumer::multiplyKTile(Value warpgroup, Value kTile, Value accumulators) {
  const TmaOperand &operandA = stages.operands[0], &operandB = stages.operands[1];
  const SwizzledTile &a = operandA.tile, &b = operandB.tile;
  Value consumer = binary<arith::SubIOp>(warpgroup, indexConstant(1));
  Value own = binary<arith::MulIOp>(consumer, indexConstant(a.offsetOf(kWgmmaM, 0)));
  Value descriptorA = descriptorOf(operandA, kTile, own),
        descriptorB = descriptorOf(operandB, kTile, indexConstant(0));
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  for (int64_t k = 0; k < tile.k; k += kWgmmaKBytes / stages.elementBytes())
    accumulators = emitWgmma(
        builder, loc, operandType(), SwizzledTile::advance(builder, loc, descriptorA, a.offsetOf(0, k)),
        a.kMajor, SwizzledTile::advance(builder, loc, descriptorB, b.offsetOf(0, k)), b.kMajor, accumulators);
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  return accumulators;
}

LogicalResult WgmmaConsumer::emitEpilogue(const TileOrigin &origin, Value accumulators) {
  constexpr int64_t rows = TmaStages::kEpilogueRows, columns = TmaStages::kEpilogueColumns;
  Value warpInBlock = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads));
  Value warp = binary<arith::SubIOp>(warpInBlock, indexConstant(kWarpgroupThreads / kWarpThreads));
  Value row = binary<arith::MulIOp>(warp, indexConstant(rows));
  Value offset = binary<arith::AddIOp>(binary<arith::MulIOp>(warp, indexConstant(TmaStages::kEpilogueBytes)),
                                       indexConstant(stages.accumulatorsOffset()));
  return emitLoop(indexConstant(0), indexConstant(tile.n / columns), indexConstant(1), [&](Value pass) {
    Value column = binary<arith::MulIOp>(pass, indexConstant(columns));
    StagedAccumulators staged{row, column, rows, columns, offset, mapping.lane, kWarpThreads};
    mapping.synchronizeWarp();
    stageColumns(staged, pass, accumulators);
    mapping.synchronizeWarp();
    return epilogue.emit(origin, staged);
  });
}

// Registers cannot be indexed, so a switch over the passes selects them.
void WgmmaConsumer::stageColumns(const StagedAccumulators &staged, Value pass, Value accumulators) {
  SmallVector<int64_t> cases =
      llvm::to_vector(llvm::seq<int64_t>(0, tile.n / TmaStages::kEpilogueColumns - 1));
  auto choice = scf::IndexSwitchOp::create(builder, loc, TypeRange(), pass, cases, cases.size());
  OpBuilder::InsertionGuard guard(builder);
  auto emitInto = [&](Region &region, int64_t number) {
    builder.createBlock(&region);
    stageColumns(staged, number, accumulators);
    scf::YieldOp::create(builder, loc);
  };
  for (auto [number, region] : llvm::zip_equal(cases, choice.getCaseRegions()))
    emitInto(region, number);
  emitInto(choice.getDefaultRegion(), cases.size());
}

// PTX ISA, accumulators of wgmma: four threads share eight columns of a row, eight groups of threads the
// rows, and each thread has the same columns eight rows below.
void WgmmaConsumer::stageColumns(const StagedAccumulators &staged, int64_t pass, Value accumulators) {
  Value four = indexConstant(4), two = indexConstant(2);
  Value inRow = binary<arith::DivUIOp>(mapping.lane, four);
  Value inColumn = binary<arith::MulIOp>(binary<arith::RemUIOp>(mapping.lane, four), two);
  int64_t groups = TmaStages::kEpilogueColumns / kGroupColumns;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t half = 0; half < 2; ++half) {
      int64_t number = (pass * groups + group) * kGroupAccumulators + half * 2;
      Value left = LLVM::ExtractValueOp::create(builder, loc, accumulators, number);
      Value right = LLVM::ExtractValueOp::create(builder, loc, accumulators, number + 1);
      Value row = binary<arith::AddIOp>(inRow, indexConstant(half * 8));
      Value column = binary<arith::AddIOp>(inColumn, indexConstant(group * kGroupColumns));
      epilogue.stage(staged, row, column, {left, right});
    }
}
