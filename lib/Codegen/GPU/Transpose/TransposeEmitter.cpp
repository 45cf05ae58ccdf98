// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TransposeEmitter.h"
#include "../SharedMemory.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Of a line of a tile in shared memory: what one access of all banks serves.
static constexpr int64_t kLineBytes = 128;
// What a bank holds.
static constexpr int64_t kWordBytes = 4;

std::optional<Transposition> device::matchTransposition(KernelOp kernel, std::string &reason) {
  ValueRange roots = kernel.getBody().front().getTerminator()->getOperands();
  auto op = roots.size() == 1 ? roots.front().getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  bool copies = op && op.getNumDpsInputs() == 1 && op.getNumResults() == 1 &&
                op.getNumReductionLoops() == 0 && isa<BlockArgument>(op.getDpsInputs()[0]) &&
                op.getBlock()->getTerminator()->getOperand(0) == op.getBlock()->getArgument(0);
  AffineMap map = copies ? op.getMatchingIndexingMap(op.getDpsInputOperand(0)) : AffineMap();
  if (!copies || !map.isPermutation() || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity()) {
    reason = "it is more than a transposition";
    return std::nullopt;
  }
  int64_t across = contiguousAxis(cast<RankedTensorType>(roots.front().getType()).getShape());
  int64_t own = contiguousAxis(cast<RankedTensorType>(op.getDpsInputs()[0].getType()).getShape());
  if (across < 0 || map.getDimPosition(own) == across) {
    reason = "what is contiguous stays contiguous";
    return std::nullopt;
  }
  return Transposition{op, map.getDimPosition(own), across};
}

TransposeEmitter::TransposeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                   const Transposition &moved)
    : RunEmitter(kernel, function), moved(moved) {
  bytes = memoryBytes(getElementTypeOrSelf(kernel.getResultTypes().front()));
  length = kAccessBytes / bytes;
  wordBytes = std::max(bytes, kWordBytes);
  side = kLineBytes / bytes;
}

// Neighbours that every line along the axis has whole numbers of.
int64_t TransposeEmitter::longestPiece(int64_t axis) {
  int64_t size = results.front().shape[axis], piece = length;
  while (!ShapedType::isDynamic(size) && size % piece != 0)
    piece /= 2;
  return piece;
}

LogicalResult TransposeEmitter::emitRoots() {
  shared = sharedMemory(builder, function, side * kLineBytes, "tile");
  launchShape = {MappingLevel::block, 0, static_cast<int64_t>(results.front().shape.size())};
  launchShape.elements = side * side;
  Spread ofThread(*this);
  return emitWhere(
      allowsRuns(length), [&] { return emitTiles(longestPiece(moved.down), longestPiece(moved.across)); },
      [&] { return emitTiles(1, 1); });
}

Value TransposeEmitter::tilesAlong(int64_t axis) {
  return builder.createOrFold<arith::CeilDivUIOp>(loc, results.front().sizes[axis], indexConstant(side));
}

LogicalResult TransposeEmitter::emitTiles(int64_t readLength, int64_t writeLength) {
  Value count = binary<arith::MulIOp>(tilesAlong(moved.down), tilesAlong(moved.across));
  for (auto [axis, size] : llvm::enumerate(results.front().sizes))
    if (int64_t(axis) != moved.down && int64_t(axis) != moved.across)
      count = binary<arith::MulIOp>(count, size);
  return emitLoop(block, count, blocks, [&](Value number) {
    Tile tile = tileAt(number);
    tile.readLength = readLength;
    tile.writeLength = writeLength;
    synchronizeBlock(); // the tile before has been read
    if (failed(readTile(tile)))
      return failure();
    synchronizeBlock();
    return writeTile(tile);
  });
}

// Tiles that follow each other along the operand come first: they share its lines in the cache.
TransposeEmitter::Tile TransposeEmitter::tileAt(Value number) {
  ArrayRef<Value> sizes = results.front().sizes;
  auto next = [&](Value count) -> Value {
    Value index = binary<arith::RemUIOp>(number, count);
    number = binary<arith::DivUIOp>(number, count);
    return index;
  };
  Tile tile{Position(sizes.size()), 1, 1};
  for (int64_t axis : {moved.down, moved.across})
    tile.corner[axis].base = binary<arith::MulIOp>(next(tilesAlong(axis)), indexConstant(side));
  for (int64_t axis = int64_t(sizes.size()) - 1; axis >= 0; --axis)
    if (axis != moved.down && axis != moved.across)
      tile.corner[axis].base = next(sizes[axis]);
  return tile;
}

Position TransposeEmitter::inside(const Tile &tile, Value down, Value across) {
  Position position(tile.corner);
  position[moved.down].base = binary<arith::AddIOp>(position[moved.down].base, down);
  position[moved.across].base = binary<arith::AddIOp>(position[moved.across].base, across);
  return position;
}

// Null when every tile lies in the tensor.
Value TransposeEmitter::isInside(const Position &position) {
  Value all;
  for (int64_t axis : {moved.down, moved.across}) {
    int64_t size = results.front().shape[axis];
    if (!ShapedType::isDynamic(size) && size % side == 0)
      continue;
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position[axis].base,
                                        results.front().sizes[axis]);
    all = all ? binary<arith::AndIOp>(all, below) : below;
  }
  return all;
}

// Neighbours of a line of the operand, as integers; nothing reads what stands for those outside.
SmallVector<Value> TransposeEmitter::loadPiece(const Tile &tile, Value line, Value first) {
  linalg::GenericOp op = moved.op;
  const Buffer &source = buffers.find(op.getDpsInputs()[0])->second;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  Type memory = memoryType(source.element);
  Position position = inside(tile, first, line);
  auto load = [&] {
    return llvm::map_to_vector(loadRun(source, evaluator.apply(map, position), tile.readLength),
                               [&](Value value) { return memoryAccess.toMemory(value); });
  };
  Value within = isInside(position);
  if (!within)
    return load();
  SmallVector<Type> types(tile.readLength, memory);
  auto branch = scf::IfOp::create(builder, loc, types, within, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, load());
  builder.setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(memory));
  scf::YieldOp::create(builder, loc, SmallVector<Value>(tile.readLength, zero));
  return SmallVector<Value>(branch.getResults());
}

// Where a warp has pieces of several lines of the operand, it writes so many neighbouring words of a line of
// the tile.
int64_t TransposeEmitter::wordsTogether(const Tile &tile) {
  int64_t pieces = side / tile.readLength;
  return std::max<int64_t>(1, kLineBytes / wordBytes / pieces);
}

// The words of a line move by the number of the piece that the line's number lies in, as many together as a
// warp has beside each other: those that it writes at once are in different banks.
Value TransposeEmitter::placeOf(const Tile &tile, Value line, Value byte) {
  Value piece = binary<arith::DivUIOp>(line, indexConstant(tile.readLength));
  Value shift = binary<arith::RemUIOp>(binary<arith::MulIOp>(piece, indexConstant(wordsTogether(tile))),
                                       indexConstant(kLineBytes / wordBytes));
  Value each = indexConstant(wordBytes);
  Value word = binary<arith::XOrIOp>(binary<arith::DivUIOp>(byte, each), shift);
  Value place = binary<arith::AddIOp>(binary<arith::MulIOp>(word, each), binary<arith::RemUIOp>(byte, each));
  Value start = binary<arith::MulIOp>(line, indexConstant(kLineBytes));
  return bytesBehind(builder, loc, shared, binary<arith::AddIOp>(start, place));
}

// Lines of the tile run along the result: each element of the operand's piece goes to a line of its own, with
// those of the lines beside it in one word.
void TransposeEmitter::packWords(const Tile &tile, Value line, Value first,
                                 ArrayRef<SmallVector<Value>> lines) {
  Value byte = binary<arith::MulIOp>(line, indexConstant(bytes));
  for (int64_t i = 0; i < tile.readLength; ++i) {
    Value word = lines.front()[i];
    if (lines.size() > 1) {
      Type type = builder.getI32Type();
      word = arith::ExtUIOp::create(builder, loc, type, word);
      for (size_t part = 1; part < lines.size(); ++part) {
        Value next = arith::ExtUIOp::create(builder, loc, type, lines[part][i]);
        Value bits = arith::ConstantIntOp::create(builder, loc, type, 8 * bytes * part);
        word = arith::OrIOp::create(builder, loc, word, arith::ShLIOp::create(builder, loc, next, bits));
      }
    }
    Value place = placeOf(tile, binary<arith::AddIOp>(first, indexConstant(i)), byte);
    LLVM::StoreOp::create(builder, loc, word, place, wordBytes);
  }
}

// Neighbouring threads have neighbouring pieces: a warp touches whole sectors, however short the pieces are.
LogicalResult TransposeEmitter::forPieces(int64_t length, int64_t lines, PieceCode code) {
  Value pieces = indexConstant(side / length);
  return emitLoop(inBlock, indexConstant(side / lines * (side / length)), blockThreads, [&](Value number) {
    Value line = binary<arith::MulIOp>(binary<arith::DivUIOp>(number, pieces), indexConstant(lines));
    code(line, binary<arith::MulIOp>(binary<arith::RemUIOp>(number, pieces), indexConstant(length)));
    return success();
  });
}

LogicalResult TransposeEmitter::readTile(const Tile &tile) {
  int64_t together = wordBytes / bytes;
  return forPieces(tile.readLength, together, [&](Value line, Value first) {
    SmallVector<SmallVector<Value>> lines;
    for (int64_t part = 0; part < together; ++part)
      lines.push_back(loadPiece(tile, binary<arith::AddIOp>(line, indexConstant(part)), first));
    packWords(tile, line, first, lines);
  });
}

// As much at once as lies together in the tile.
SmallVector<Value> TransposeEmitter::loadPacked(const Tile &tile, Value line, Value first) {
  Type element = results.front().element;
  int64_t grain = std::min(tile.writeLength, wordsTogether(tile) * wordBytes / bytes);
  auto type = VectorType::get(grain, memoryType(element));
  SmallVector<Value> values;
  for (int64_t offset = 0; offset < tile.writeLength; offset += grain) {
    Value start = binary<arith::AddIOp>(first, indexConstant(offset));
    Value place = placeOf(tile, line, binary<arith::MulIOp>(start, indexConstant(bytes)));
    if (grain == 1) {
      Value loaded = LLVM::LoadOp::create(builder, loc, type.getElementType(), place, bytes);
      values.push_back(memoryAccess.fromMemory(loaded, element));
      continue;
    }
    Value vector = LLVM::LoadOp::create(builder, loc, type, place, grain * bytes);
    for (int64_t i = 0; i < grain; ++i) {
      Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      values.push_back(
          memoryAccess.fromMemory(LLVM::ExtractElementOp::create(builder, loc, vector, index), element));
    }
  }
  return values;
}

LogicalResult TransposeEmitter::writeTile(const Tile &tile) {
  return forPieces(tile.writeLength, 1, [&](Value line, Value first) {
    SmallVector<Value> values = loadPacked(tile, line, first);
    Position position = inside(tile, line, first);
    auto store = [&] {
      storeRun(results.front(), position, values);
      return success();
    };
    Value within = isInside(position);
    (void)(within ? emitIf(within, store) : store());
  });
}
