// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RealignedRows.h"
#include "../../Generic/SharedMemory.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static constexpr int64_t kWordBytes = 4, kChunkWords = kChunkBytes / kWordBytes;
// Chunks that a thread moves at once, at most: they are in registers.
static constexpr int64_t kMaxRun = 4;

Value RealignedRows::elementAt(const StagedOperand &part, ArrayRef<Index> loops) {
  linalg::GenericOp op = contraction.op;
  Position position = maps.apply(op.getMatchingIndexingMap(part.operand), loops);
  int64_t stride;
  Value vector;
  return memoryAccess.linearIndex(buffers.find(part.operand->get())->second, position, stride, vector);
}

// Between elements of consecutive steps of K.
Value RealignedRows::bytesPerStep(const StagedOperand &part) {
  linalg::GenericOp op = contraction.op;
  SmallVector<Index> loops(op.getNumLoops(), Index{indexConstant(0), 0, nullptr});
  loops[contraction.kLoop].base = indexConstant(1);
  return binary<arith::MulIOp>(elementAt(part, loops), indexConstant(part.elementBytes()));
}

// The byte of the operand where a staged row of the first K tile begins. K tiles are a multiple of 16 bytes
// apart, so the rows of all of them are shifted alike.
Value RealignedRows::firstByte(const StagedOperand &part, const TileOrigin &origin, Value row) {
  Value index = part.start(origin), step = origin.beginK;
  Value &across = part.kMajor ? index : step;
  across = binary<arith::AddIOp>(across, row);
  Value element = elementAt(part, tileMapping.loopsAt(origin, index, index, step));
  return binary<arith::MulIOp>(element, indexConstant(part.elementBytes()));
}

// The last bytes of a row may be the last of the operand, so a copy reads no byte after them. The hardware
// fills the rest of the chunk with zeros, which is what a K tile needs that ends with K.
Value RealignedRows::bytesOfChunk(const StagedOperand &part, const TileOrigin &origin, Value k, Value row,
                                  Value chunk, Value firstByte) {
  Value start = part.start(origin), sizeK = tileMapping.sizeK();
  auto [along, length] = part.kMajor ? std::pair(k, sizeK) : std::pair(start, part.size);
  auto [across, count] = part.kMajor ? std::pair(start, part.size) : std::pair(k, sizeK);
  Value rest = binary<arith::MinSIOp>(binary<arith::SubIOp>(length, along), indexConstant(part.rowLength()));
  rest = binary<arith::MulIOp>(toWord(rest), word(part.elementBytes()));
  Value low = binary<arith::AndIOp>(toWord(firstByte), word(kChunkBytes - 1));
  Value bytes = binary<arith::AddIOp>(low, rest);
  bytes = binary<arith::SubIOp>(bytes, binary<arith::MulIOp>(toWord(chunk), word(kChunkBytes)));
  bytes = binary<arith::MinSIOp>(binary<arith::MaxSIOp>(bytes, word(0)), word(kChunkBytes));
  Value hasRow = staging.isInside(binary<arith::AddIOp>(across, row), count, part.rowCount());
  return builder.createOrFold<arith::SelectOp>(loc, hasRow, bytes, word(0));
}

// Rows of a stage lie as those of a tile do. Their last chunks, which tiles do not have, follow them.
Value RealignedRows::pointerTo(const StagedOperand &part, Value stage, Value row, int64_t constantChunk,
                               Value chunk, ByteOfChunk byteOf) {
  int64_t offset = part.tileBytes(), inStage = part.rawTileBytes();
  Value byte;
  if (!chunk && constantChunk * kChunkBytes == part.rowBytes()) {
    byte = binary<arith::MulIOp>(row, indexConstant(kChunkBytes));
    byte = binary<arith::AddIOp>(byte, indexConstant(part.offset + part.tileBytes()));
  } else {
    Value number = indexConstant(constantChunk);
    byte = byteOf(part, indexConstant(0), row, chunk ? binary<arith::AddIOp>(chunk, number) : number);
  }
  byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(stage, indexConstant(inStage)));
  return sharedPointer(binary<arith::AddIOp>(byte, indexConstant(offset)));
}

void RealignedRows::copy(const StagedOperand &part, const TileOrigin &origin, Value kTile, Value stage,
                         ByteOfChunk byteOf) {
  int64_t perRow = part.rowBytes() / kChunkBytes;
  const Buffer &buffer = buffers.find(part.operand->get())->second;
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  Value before = binary<arith::MulIOp>(kTile, indexConstant(tile.k));
  Value k = binary<arith::AddIOp>(origin.beginK, before);
  Value advance = binary<arith::MulIOp>(before, bytesPerStep(part));
  auto copyChunk = [&](Value row, Value chunk, Value target) {
    Value first = firstByte(part, origin, row);
    Value bytes = bytesOfChunk(part, origin, k, row, chunk, first);
    Value aligned = binary<arith::AndIOp>(first, indexConstant(-kChunkBytes));
    aligned = binary<arith::AddIOp>(aligned, binary<arith::MulIOp>(chunk, indexConstant(kChunkBytes)));
    Value source = addBytes(builder, loc, addBytes(builder, loc, buffer.pointer, aligned), advance);
    source = LLVM::AddrSpaceCastOp::create(builder, loc, global, source);
    NVVM::CpAsyncOp::create(builder, loc, target, source, kChunkBytes, NVVM::LoadCacheModifierKind::CG,
                            bytes);
    return success();
  };
  (void)staging.distribute(part.rowCount() * perRow, [&](LoadNumber number) {
    auto [rowNumber, chunkNumber] = staging.divideNumber(number, perRow);
    Value row = staging.sum(Value(), rowNumber), chunk = staging.sum(Value(), chunkNumber);
    return copyChunk(row, chunk, pointerTo(part, stage, row, 0, chunk, byteOf));
  });
  (void)staging.distribute(part.rowCount(), [&](LoadNumber number) {
    Value row = staging.sum(Value(), number);
    return copyChunk(row, indexConstant(perRow), pointerTo(part, stage, row, perRow, Value(), byteOf));
  });
}

// Words are chosen by the higher bits of the byte where the row begins in its first chunk. The rest is a
// funnel shift of two words each.
void RealignedRows::moveChunks(const StagedOperand &part, Value row, Value first, int64_t count, Value stage,
                               Value byte, ByteOfChunk byteOf) {
  auto vectorType = VectorType::get(kChunkWords, builder.getI32Type());
  bool isWholeRow = count * kChunkBytes == part.rowBytes();
  SmallVector<Value> words;
  for (int64_t chunk = 0; chunk <= count; ++chunk) {
    Value pointer = pointerTo(part, stage, row, chunk, isWholeRow ? Value() : first, byteOf);
    if (chunk == count && !isWholeRow) { // of the last run in the row it is the one that follows all rows
      Value ends = isEqual(first, part.rowBytes() / kChunkBytes - count);
      Value last = pointerTo(part, stage, row, part.rowBytes() / kChunkBytes, Value(), byteOf);
      pointer = arith::SelectOp::create(builder, loc, ends, last, pointer);
    }
    Value loaded = LLVM::LoadOp::create(builder, loc, vectorType, pointer, kChunkBytes);
    for (int64_t i = 0; i < kChunkWords; ++i)
      words.push_back(LLVM::ExtractElementOp::create(builder, loc, loaded, word(i)));
  }
  for (int64_t skipped = kChunkWords / 2; skipped > 0; skipped /= 2) {
    Value bit = binary<arith::AndIOp>(byte, word(skipped * kWordBytes));
    Value skips = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, word(0));
    for (int64_t i = 0; i < count * kChunkWords + skipped; ++i)
      words[i] = arith::SelectOp::create(builder, loc, skips, words[i + skipped], words[i]);
  }
  Value bits = binary<arith::MulIOp>(binary<arith::AndIOp>(byte, word(kWordBytes - 1)), word(8));
  for (int64_t chunk = 0; chunk < count; ++chunk) {
    Value moved = LLVM::PoisonOp::create(builder, loc, vectorType);
    for (int64_t i = 0, at = chunk * kChunkWords; i < kChunkWords; ++i, ++at)
      moved = LLVM::InsertElementOp::create(
          builder, loc, moved, LLVM::FshrOp::create(builder, loc, words[at + 1], words[at], bits), word(i));
    Value target = byteOf(part, indexConstant(0), row, binary<arith::AddIOp>(first, indexConstant(chunk)));
    LLVM::StoreOp::create(builder, loc, moved, sharedPointer(target), kChunkBytes);
  }
}

// A thread moves some chunks of a row, so that it loads few of them twice. Consecutive threads have
// consecutive rows, which lie in different banks.
void RealignedRows::realign(const StagedOperand &part, const TileOrigin &origin, Value stage,
                            ByteOfChunk byteOf) {
  int64_t perRow = part.rowBytes() / kChunkBytes;
  int64_t count = std::clamp<int64_t>(part.rowCount() * perRow / tile.threads, 1, std::min(perRow, kMaxRun));
  (void)staging.distribute(part.rowCount() * perRow / count, [&](LoadNumber number) {
    auto [run, rowNumber] = staging.divideNumber(number, part.rowCount());
    Value row = staging.sum(Value(), rowNumber);
    Value first = binary<arith::MulIOp>(staging.sum(Value(), run), indexConstant(count));
    Value byte = binary<arith::AndIOp>(toWord(firstByte(part, origin, row)), word(kChunkBytes - 1));
    moveChunks(part, row, first, count, stage, byte, byteOf);
    return success();
  });
}
