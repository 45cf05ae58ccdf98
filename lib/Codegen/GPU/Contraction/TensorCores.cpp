// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions on the tensor cores of warps. Pieces of the operands are copied ahead into a ring in shared
// memory, asynchronously where chunks of 16 bytes lie there as they do in memory. The chunks of a line change
// places by the number of the line, so that the eight lines that `ldmatrix` reads at once lie in different
// banks. Fragments follow the tables of the PTX ISA for ldmatrix, and for mma of m16n8 and 32 bytes of depth.

#include "ContractionEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static constexpr int64_t kFragmentRows = 16, kFragmentColumns = 8, kFragmentDepthBytes = 32;
static constexpr int64_t kMatrixLines = 8, kWordBytes = 4;

// Eight lines at one chunk lie in 32 different banks: lines of 64 bytes share them in pairs. So do four lines
// at two neighbouring chunks, where words are read across the depth.
Value ContractionEmitter::swizzled(const Staged &part, Value stage, Value line, Value chunk) {
  int64_t lineBytes = part.lineLength() * part.elementBytes();
  Value one = indexConstant(1), turn = line;
  if (lineBytes == 64)
    turn = binary<arith::ShRUIOp>(line, one);
  else if (!part.alongDepth && part.elementBytes() == kWordBytes)
    turn = binary<arith::ShLIOp>(line, one);
  int64_t chunks = std::min<int64_t>(lineBytes / kChunkBytes, 8);
  Value place = binary<arith::XOrIOp>(chunk, binary<arith::AndIOp>(turn, indexConstant(chunks - 1)));
  Value byte = binary<arith::MulIOp>(stage, indexConstant(part.lineCount() * lineBytes));
  byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(line, indexConstant(lineBytes)));
  byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(place, indexConstant(kChunkBytes)));
  return binary<arith::AddIOp>(byte, indexConstant(part.offset));
}

void ContractionEmitter::copyChunks(const Staged &part, const Place &place, Value depth, Value stage) {
  bool rows = part.lineLoop == contraction.rowLoop;
  int64_t inChunk = kChunkBytes / part.elementBytes(), perLine = part.lineLength() / inChunk;
  (void)shareAmongThreads(part.lineCount() * perLine, [&](Value number) {
    auto [line, chunk] = divide(number, indexConstant(perLine));
    Value along = binary<arith::MulIOp>(chunk, indexConstant(inChunk));
    Value index = binary<arith::AddIOp>(rows ? place.row : place.column, part.alongDepth ? line : along);
    Value deep = binary<arith::AddIOp>(depth, part.alongDepth ? along : line);
    copyAsync(part, place, index, deep, sharedPointer(swizzled(part, stage, line, chunk)), kChunkBytes);
    return success();
  });
}

// Element by element, for operands that the kernel computes or whose lines do not begin with a chunk.
LogicalResult ContractionEmitter::fillElements(const Staged &part, const Place &place, Value depth,
                                               Value stage) {
  bool rows = part.lineLoop == contraction.rowLoop;
  bool turned = part.alongDepth != part.memoryAlongDepth; // neighbours in memory are in different lines
  int64_t fast = turned ? part.lineCount() : part.lineLength(), inChunk = kChunkBytes / part.elementBytes();
  Value all = indexConstant(part.lines * part.count);
  return emitLoop(
      mapping.threadInBlock, all, indexConstant(kBlockThreads), [&](Value number) -> LogicalResult {
        auto [line, within] = divide(number, indexConstant(fast));
        if (turned)
          std::swap(line, within);
        Value index = binary<arith::AddIOp>(rows ? place.row : place.column, part.alongDepth ? line : within);
        Value deep = binary<arith::AddIOp>(depth, part.alongDepth ? within : line);
        FailureOr<Value> value = nearestElement(part, place, index, deep);
        if (failed(value))
          return failure();
        Value bits = memoryAccess.toMemory(*value);
        Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(bits.getType()));
        bits = arith::SelectOp::create(builder, loc, isBelow(deep, depthCount), bits, zero);
        auto [chunk, rest] = divide(within, indexConstant(inChunk));
        Value byte = swizzled(part, stage, line, chunk);
        byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(rest, indexConstant(part.elementBytes())));
        LLVM::StoreOp::create(builder, loc, bits, sharedPointer(byte));
        return success();
      });
}

LogicalResult ContractionEmitter::copyPiece(const Place &place, Value piece) {
  Value stage = binary<arith::RemUIOp>(piece, indexConstant(tile.stages));
  Value depth = binary<arith::MulIOp>(piece, indexConstant(tile.depth));
  for (const Staged &part : staged) {
    auto fill = [&] { return fillElements(part, place, depth, stage); };
    auto copy = [&] {
      copyChunks(part, place, depth, stage);
      return success();
    };
    if (failed(part.whole ? emitIfAllowed(part.aligned, copy, fill) : fill()))
      return failure();
  }
  return success();
}

// The fragments of 16 lines along the rows or columns of the result, 32 bytes deep: four registers each,
// first down the rows of the left operand, but first along the depth of the right one.
SmallVector<Value> ContractionEmitter::loadFragment(const Staged &part, Value stage, Value first,
                                                    int64_t depth) {
  Type element = getElementTypeOrSelf(part.operand->get().getType()), word = builder.getI32Type();
  bool byWords = !part.alongDepth && part.elementBytes() == kWordBytes;
  SmallVector<Value> registers =
      byWords ? loadWords(part, stage, first, depth) : loadMatrices(part, stage, first, depth);
  for (Value &bits : registers) {
    if (element.isF16())
      bits = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, element), bits);
    if (!element.isF32())
      continue;
    bits = LLVM::BitcastOp::create(builder, loc, element, bits);
    auto nearest = NVVM::FPRoundingModeAttr::get(builder.getContext(), NVVM::FPRoundingMode::RNA);
    bits = NVVM::ConvertFloatToTF32Op::create(builder, loc, word, bits, nearest);
  }
  return registers;
}

// Eight threads name the lines of each of the four matrices of eight lines by 16 bytes.
SmallVector<Value> ContractionEmitter::loadMatrices(const Staged &part, Value stage, Value first,
                                                    int64_t depth) {
  bool rows = part.lineLoop == contraction.rowLoop;
  Value eight = indexConstant(kMatrixLines), deep = indexConstant(depth);
  auto [matrix, inMatrix] = divide(mapping.lane, eight);
  auto [high, low] = divide(matrix, indexConstant(2));
  auto [alongLines, alongDepth] = rows ? std::pair(low, high) : std::pair(high, low);
  auto extended = [&](Value base, Value eights) {
    return binary<arith::AddIOp>(base, binary<arith::MulIOp>(eights, eight));
  };
  Value line, chunk;
  if (part.alongDepth) {
    line = extended(first, alongLines);
    chunk = binary<arith::AddIOp>(indexConstant(depth * part.elementBytes() / kChunkBytes), alongDepth);
  } else {
    line = extended(deep, alongDepth);
    chunk = binary<arith::DivUIOp>(extended(first, alongLines), eight);
  }
  Value pointer = sharedPointer(swizzled(part, stage, binary<arith::AddIOp>(line, inMatrix), chunk));
  Type word = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, word));
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(builder, loc, type, pointer, 4,
                                          part.alongDepth ? NVVM::MMALayout::row : NVVM::MMALayout::col,
                                          shape, NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
  return registers;
}

// Words that lie across the depth: a thread has its own of each matrix, in one of eight lines of the result
// and one of four along the depth.
SmallVector<Value> ContractionEmitter::loadWords(const Staged &part, Value stage, Value first,
                                                 int64_t depth) {
  bool rows = part.lineLoop == contraction.rowLoop;
  auto [inLines, inDepth] = divide(mapping.lane, indexConstant(4));
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i) {
    auto [lines, deep] = rows ? std::pair(i % 2, i / 2) : std::pair(i / 2, i % 2);
    Value line = binary<arith::AddIOp>(inDepth, indexConstant(depth + deep * kChunkBytes / kWordBytes));
    Value within = binary<arith::AddIOp>(first, indexConstant(lines * kMatrixLines));
    auto [chunk, rest] =
        divide(binary<arith::AddIOp>(within, inLines), indexConstant(kChunkBytes / kWordBytes));
    Value byte = binary<arith::MulIOp>(rest, indexConstant(kWordBytes));
    byte = binary<arith::AddIOp>(byte, swizzled(part, stage, line, chunk));
    registers.push_back(LLVM::LoadOp::create(builder, loc, builder.getI32Type(), sharedPointer(byte)));
  }
  return registers;
}

static NVVM::MMATypes instructionType(Type element) {
  if (element.isInteger(8))
    return NVVM::MMATypes::s8;
  if (element.isF32())
    return NVVM::MMATypes::tf32;
  return element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
}

SmallVector<Value> ContractionEmitter::multiply(ValueRange rows, ValueRange columns, ValueRange sums) {
  Type element = operandType();
  NVVM::MMATypes type = instructionType(element);
  auto overflow = element.isInteger() ? std::optional(NVVM::MMAIntOverflow::wrapped) : std::nullopt;
  auto result = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, sumType()));
  int64_t depth = kFragmentDepthBytes / memoryBytes(element);
  Value next = NVVM::MmaOp::create(
      builder, loc, result, rows, columns, sums, ArrayRef<int64_t>{kFragmentRows, kFragmentColumns, depth},
      std::nullopt, overflow, std::array{type, type}, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value> values;
  for (int64_t i = 0; i < 4; ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, next, i));
  return values;
}

// The part of the tile that the thread's warp has: rows, columns, and where they start.
ContractionEmitter::WarpTile ContractionEmitter::warpTile() {
  Value number = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads)),
        across = indexConstant(tile.warpsAcross);
  WarpTile part{tile.rows / tile.warpsDown, tile.columns / tile.warpsAcross, {}, {}, {}};
  part.down = binary<arith::DivUIOp>(number, across);
  part.row = binary<arith::MulIOp>(part.down, indexConstant(part.rows));
  part.column = binary<arith::MulIOp>(binary<arith::RemUIOp>(number, across), indexConstant(part.columns));
  return part;
}

SmallVector<Value> ContractionEmitter::multiplyPiece(Value stage, ValueRange sums) {
  WarpTile part = warpTile();
  int64_t fragmentDepth = kFragmentDepthBytes / staged[0].elementBytes();
  SmallVector<Value> next(sums);
  for (int64_t depth = 0; depth < tile.depth; depth += fragmentDepth) {
    auto fragments = [&](const Staged &operand, Value first, int64_t size) {
      SmallVector<SmallVector<Value>> loaded;
      for (int64_t i = 0; i < size; i += kFragmentRows)
        loaded.push_back(loadFragment(operand, stage, binary<arith::AddIOp>(first, indexConstant(i)), depth));
      return loaded;
    };
    auto rows = fragments(staged[0], part.row, part.rows);
    auto columns = fragments(staged[1], part.column, part.columns);
    MutableArrayRef<Value> rest(next);
    for (ArrayRef<Value> left : rows)
      for (int64_t column = 0; column < part.columns; column += kFragmentColumns) {
        ArrayRef<Value> pair = columns[column / kFragmentRows];
        ArrayRef<Value> right = pair.slice(column % kFragmentRows / kFragmentColumns * 2, 2);
        llvm::copy(multiply(left, right, rest.take_front(4)), rest.begin());
        rest = rest.drop_front(4);
      }
  }
  return next;
}

// While a piece is multiplied the next ones are on their way. The barrier says two things: that all threads
// have what they wait for, and that nobody reads the piece whose place the next one takes.
LogicalResult ContractionEmitter::emitTensorCores(const Place &place) {
  Value pieces = divideUp(depthCount, tile.depth);
  for (int64_t piece = 0; piece + 1 < tile.stages; ++piece) {
    Value number = indexConstant(piece);
    if (failed(emitWhen(isBelow(number, pieces), [&] { return copyPiece(place, number); })))
      return failure();
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  }
  WarpTile part = warpTile();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sumType()));
  SmallVector<Value> start(part.rows * part.columns / kWarpThreads, zero);
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), pieces, indexConstant(1), start);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Scope scope(*this);
    Value piece = loop.getInductionVar();
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, tile.stages - 2);
    mapping.synchronizeBlock();
    Value next = binary<arith::AddIOp>(piece, indexConstant(tile.stages - 1));
    if (failed(emitIf(isBelow(next, pieces), [&] { return copyPiece(place, next); })))
      return failure();
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
    Value stage = binary<arith::RemUIOp>(piece, indexConstant(tile.stages));
    scf::YieldOp::create(builder, loc, multiplyPiece(stage, loop.getRegionIterArgs()));
  }
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  return storeFragments(place, loop.getResults());
}

// Some rows of every warp at a time go through shared memory, so that fewer and fewer sums wait in registers.
LogicalResult ContractionEmitter::storeFragments(const Place &place, ValueRange sums) {
  WarpTile part = warpTile();
  int64_t rows = rowsTogether / tile.warpsDown, count = rows * part.columns / kWarpThreads;
  for (int64_t first = 0; first < part.rows; first += rows, sums = sums.drop_front(count)) {
    Sums inShared = sumsOfBlock(first, rowsTogether);
    inShared.groupRows = rows;
    inShared.groupDistance = part.rows;
    mapping.synchronizeBlock();
    storePairs(inShared, part, sums.take_front(count));
    mapping.synchronizeBlock();
    if (failed(emitResults(place, inShared)))
      return failure();
  }
  mapping.synchronizeBlock();
  return success();
}

// By the tables of the PTX ISA a thread has two neighbours of a row, and two of the row eight below.
void ContractionEmitter::storePairs(const Sums &inShared, const WarpTile &part, ValueRange sums) {
  Value four = indexConstant(4), two = indexConstant(2);
  Value firstRow = binary<arith::MulIOp>(part.down, indexConstant(inShared.groupRows));
  Value laneRow = binary<arith::AddIOp>(firstRow, binary<arith::DivUIOp>(mapping.lane, four));
  Value laneColumn = binary<arith::MulIOp>(binary<arith::RemUIOp>(mapping.lane, four), two);
  laneColumn = binary<arith::AddIOp>(part.column, laneColumn);
  for (int64_t row = 0; row < inShared.groupRows; row += kFragmentRows)
    for (int64_t column = 0; column < part.columns; column += kFragmentColumns)
      for (int64_t half = 0; half < 2; ++half, sums = sums.drop_front(2)) {
        Value inRow = binary<arith::AddIOp>(laneRow, indexConstant(row + half * 8));
        Value inColumn = binary<arith::AddIOp>(laneColumn, indexConstant(column));
        storePair(inShared, inRow, inColumn, sums[0], sums[1]);
      }
}
