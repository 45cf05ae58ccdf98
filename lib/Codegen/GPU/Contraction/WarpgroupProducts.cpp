// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The warpgroups that multiply. Each has 64 rows of a tile, whose sums stay in registers until all pieces are
// through; each warp then makes results of its rows, by way of shared memory that belongs to it alone.

#include "WarpgroupEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Columns of the result that the sums of a thread are counted by: two neighbours in each of two rows.
static constexpr int64_t kSumGroup = 8, kSumsOfGroup = 4;

LogicalResult WarpgroupEmitter::emitProducts() {
  return forTiles(
      [&](const Place &place, Value before) { return emitResultsOf(place, multiplyPieces(before)); });
}

// A piece is multiplied while the one before it still is; then that one is given back.
Value WarpgroupEmitter::multiplyPieces(Value before) {
  Value inWarpgroup = binary<arith::RemUIOp>(mapping.threadInBlock, indexConstant(kWarpgroupThreads));
  Value releases = isBelow(inWarpgroup, indexConstant(tile.cluster));
  Value one = indexConstant(1), count = pieceCount();
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), count, one,
                                 ValueRange{zeroSums(builder, loc, sumType(), tile.columns)});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), piece = binary<arith::AddIOp>(before, number);
    ring().awaitFull(piece);
    Value sums = multiplyPiece(piece, loop.getRegionIterArg(0));
    NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 1);
    Value later = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, number, indexConstant(0));
    releasePiece(binary<arith::SubIOp>(piece, one), inWarpgroup, binary<arith::AndIOp>(releases, later));
    scf::YieldOp::create(builder, loc, sums);
  }
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
  releasePiece(binary<arith::SubIOp>(binary<arith::AddIOp>(before, count), one), inWarpgroup, releases);
  return loop.getResult(0);
}

// A thread of the warpgroup for each block.
void WarpgroupEmitter::releasePiece(Value piece, Value block, Value condition) {
  (void)emitIf(condition, [&] {
    ring().release(piece, block);
    return success();
  });
}

Value WarpgroupEmitter::operandOf(const Source &source, Value piece, Value byte) {
  Value start = binary<arith::AddIOp>(indexConstant(source.offset), byte);
  return source.tile.describe(builder, loc, ring().pointerTo(piece, start));
}

Value WarpgroupEmitter::multiplyPiece(Value piece, Value sums) {
  auto [rows, columns] = std::tie(sources[0].tile, sources[1].tile);
  Value number = binary<arith::SubIOp>(warpgroup, indexConstant(1));
  Value own = binary<arith::MulIOp>(number, indexConstant(rows.offsetOf(kWarpgroupRows, 0)));
  Value left = operandOf(sources[0], piece, own), right = operandOf(sources[1], piece, indexConstant(0));
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  for (int64_t depth = 0; depth < tile.depth; depth += kStepBytes / elementBytes())
    sums = multiplyInWarpgroup(
        builder, loc, operandType(), SwizzledTile::advance(builder, loc, left, rows.offsetOf(0, depth)),
        rows.alongDepth, SwizzledTile::advance(builder, loc, right, columns.offsetOf(0, depth)),
        columns.alongDepth, sums);
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  return sums;
}

LogicalResult WarpgroupEmitter::emitResultsOf(const Place &place, Value sums) {
  Value warpInBlock = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads));
  Value number = binary<arith::SubIOp>(warpInBlock, indexConstant(kWarpgroupThreads / kWarpThreads));
  Value row = binary<arith::MulIOp>(number, indexConstant(kSumRows));
  Value offset = binary<arith::AddIOp>(binary<arith::MulIOp>(number, indexConstant(kSumBytes)),
                                       indexConstant(sumsStart()));
  return emitLoop(indexConstant(0), indexConstant(tile.columns / kSumColumns), indexConstant(1),
                  [&](Value chunk) {
                    Value column = binary<arith::MulIOp>(chunk, indexConstant(kSumColumns));
                    Sums inShared{row, column, kSumRows, kSumColumns, offset, mapping.lane, kWarpThreads};
                    mapping.synchronizeWarp();
                    storeColumns(inShared, chunk, sums);
                    mapping.synchronizeWarp();
                    return emitResults(place, inShared);
                  });
}

// Registers have no address: the chunk decides which ones are stored.
void WarpgroupEmitter::storeColumns(const Sums &inShared, Value chunk, Value sums) {
  SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(0, tile.columns / kSumColumns - 1));
  auto choice = scf::IndexSwitchOp::create(builder, loc, TypeRange(), chunk, cases, cases.size());
  OpBuilder::InsertionGuard guard(builder);
  auto emitInto = [&](Region &region, int64_t number) {
    builder.createBlock(&region);
    storeColumns(inShared, number, sums);
    scf::YieldOp::create(builder, loc);
  };
  for (auto [number, region] : llvm::zip_equal(cases, choice.getCaseRegions()))
    emitInto(region, number);
  emitInto(choice.getDefaultRegion(), cases.size());
}

// By the table of the PTX ISA: eight columns are shared by four threads, rows by eight threads, and again
// eight rows below.
void WarpgroupEmitter::storeColumns(const Sums &inShared, int64_t chunk, Value sums) {
  Value four = indexConstant(4), two = indexConstant(2);
  Value inRow = binary<arith::DivUIOp>(mapping.lane, four);
  Value inColumn = binary<arith::MulIOp>(binary<arith::RemUIOp>(mapping.lane, four), two);
  int64_t groups = kSumColumns / kSumGroup;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t half = 0; half < 2; ++half) {
      int64_t number = (chunk * groups + group) * kSumsOfGroup + half * 2;
      Value left = LLVM::ExtractValueOp::create(builder, loc, sums, number);
      Value right = LLVM::ExtractValueOp::create(builder, loc, sums, number + 1);
      Value row = binary<arith::AddIOp>(inRow, indexConstant(half * 8));
      Value column = binary<arith::AddIOp>(inColumn, indexConstant(group * kSumGroup));
      storePair(inShared, row, column, left, right);
    }
}
