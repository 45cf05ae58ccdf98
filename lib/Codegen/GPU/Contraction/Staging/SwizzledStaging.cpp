// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SwizzledStaging.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Eight rows at one chunk are in 32 different banks. Two rows of 64 bytes are in the same 32 banks, so they
// have the same swizzle. 32-bit elements that are not K-major are read one by one, four rows at two adjacent
// chunks: their swizzle changes twice as fast.
Value SwizzledStaging::byteOfChunk(const StagedOperand &part, Value stage, Value row, Value chunk) {
  int64_t rowBytes = part.rowLength() * part.elementBytes();
  int64_t stageBytes = part.stageStride ? part.stageStride : part.rowCount() * rowBytes;
  Value one = indexConstant(1), phase = row, slab = indexConstant(0);
  if (part.slabRowBytes && part.slabRowBytes < rowBytes) {
    rowBytes = part.slabRowBytes;
    std::tie(slab, chunk) = divide(chunk, indexConstant(rowBytes / kChunkBytes));
  }
  if (rowBytes == 64)
    phase = binary<arith::ShRUIOp>(row, one);
  else if (!part.kMajor && part.elementBytes() == 4)
    phase = binary<arith::ShLIOp>(row, one);
  int64_t chunks = std::min<int64_t>(rowBytes / kChunkBytes, 8);
  Value swizzled = binary<arith::XOrIOp>(chunk, binary<arith::AndIOp>(phase, indexConstant(chunks - 1)));
  if (part.realigned)
    stage = indexConstant(0);
  Value byte = binary<arith::MulIOp>(stage, indexConstant(stageBytes));
  byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(slab, indexConstant(part.rowCount() * rowBytes)));
  byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(row, indexConstant(rowBytes)));
  byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(swizzled, indexConstant(kChunkBytes)));
  return binary<arith::AddIOp>(byte, indexConstant(part.offset));
}

// Consecutive threads copy consecutive pieces, of a chunk or of what rows are aligned to.
void SwizzledStaging::copyPieces(const StagedOperand &part, const TileOrigin &origin, Value k, Value stage,
                                 int64_t bytes) {
  int64_t inPiece = bytes / part.elementBytes(), perRow = part.rowLength() / inPiece;
  (void)staging.distribute(part.rowCount() * perRow, [&](LoadNumber number) {
    auto [row, piece] = staging.divideNumber(number, perRow);
    LoadNumber column{binary<arith::MulIOp>(piece.base, indexConstant(inPiece)), 0, piece.constant * inPiece};
    Value index = staging.sum(part.start(origin), part.kMajor ? row : column);
    Value step = staging.sum(k, part.kMajor ? column : row);
    auto [chunk, inChunk] = staging.divideNumber(piece, kChunkBytes / bytes);
    Value byte = byteOfChunk(part, stage, staging.sum(Value(), row), staging.sum(Value(), chunk));
    Value rest = binary<arith::MulIOp>(staging.sum(Value(), inChunk), indexConstant(bytes));
    staging.asyncCopy(part, origin, index, step, sharedPointer(binary<arith::AddIOp>(byte, rest)), bytes);
    return success();
  });
}

// Through registers, for operands that the kernel computes, or whose chunks are not contiguous or aligned.
LogicalResult SwizzledStaging::storeElements(const StagedOperand &part, const TileOrigin &origin, Value k,
                                             Value stage) {
  bool transposes = part.kMajor != part.globalKMajor; // consecutive threads then write to different rows
  int64_t contiguous = transposes ? part.rowCount() : part.rowLength();
  Value all = indexConstant(part.extent * part.k);
  return emitLoop(
      mapping.threadInBlock, all, indexConstant(tile.threads), [&](Value number) -> LogicalResult {
        auto [row, column] = divide(number, indexConstant(contiguous));
        if (transposes)
          std::swap(row, column);
        Value index = binary<arith::AddIOp>(part.start(origin), part.kMajor ? row : column);
        Value step = binary<arith::AddIOp>(k, part.kMajor ? column : row);
        FailureOr<Value> value = staging.loadClamped(part, origin, index, step);
        if (failed(value))
          return failure();
        Value bits = toMemory(*value);
        Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(bits.getType()));
        bits = arith::SelectOp::create(builder, loc, isBelow(step, tileMapping.sizeK()), bits, zero);
        auto [chunk, rest] = divide(column, indexConstant(part.chunkElements()));
        Value byte = byteOfChunk(part, stage, row, chunk);
        byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(rest, indexConstant(part.elementBytes())));
        LLVM::StoreOp::create(builder, loc, bits, sharedPointer(byte));
        return success();
      });
}

LogicalResult SwizzledStaging::loadKTile(const TileOrigin &origin, Value kTile) {
  Value stage = binary<arith::RemUIOp>(kTile, indexConstant(tile.stages));
  Value k = binary<arith::AddIOp>(origin.beginK, binary<arith::MulIOp>(kTile, indexConstant(tile.k)));
  auto byteOf = [&](const StagedOperand &part, Value at, Value row, Value chunk) {
    return byteOfChunk(part, at, row, chunk);
  };
  for (const StagedOperand &part : staging.operands) {
    auto copy = [&](int64_t bytes) {
      copyPieces(part, origin, k, stage, bytes);
      return success();
    };
    auto unaligned = [&]() -> LogicalResult {
      if (part.realigned)
        return rows.copy(part, origin, kTile, stage, byteOf), success();
      bool hasWords = part.copyBytes != 0 && part.elementBytes() >= kMinCopyBytes;
      return hasWords ? copy(part.elementBytes()) : storeElements(part, origin, k, stage);
    };
    bool isAligned = part.copyBytes != 0;
    if (failed(isAligned ? emitIfAllowed(
                               part.aligned, [&] { return copy(part.copyBytes); }, unaligned)
                         : unaligned()))
      return failure();
  }
  return success();
}

// The barrier of the pipeline before it says that all rows have arrived, and that nobody reads the tile any
// more that they are moved to.
void SwizzledStaging::realignKTile(const TileOrigin &origin, Value kTile) {
  if (llvm::none_of(staging.operands, [](const StagedOperand &part) { return part.realigned; }))
    return;
  Value stage = binary<arith::RemUIOp>(kTile, indexConstant(tile.stages));
  auto byteOf = [&](const StagedOperand &part, Value at, Value row, Value chunk) {
    return byteOfChunk(part, at, row, chunk);
  };
  for (const StagedOperand &part : staging.operands) {
    if (part.realigned)
      rows.realign(part, origin, stage, byteOf);
  }
  mapping.synchronizeBlock();
}
