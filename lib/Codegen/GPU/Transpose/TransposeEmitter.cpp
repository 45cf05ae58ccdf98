// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TransposeEmitter.h"
#include "../Generic/SharedMemory.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// A row of the tile has one word of each bank of shared memory.
static constexpr int64_t kRowBytes = kBankRowBytes;

// Takes the next outer axis of a tensor for its axis of the tiles, as long as the inner ones together are
// short and static and the other axis has not taken it. `order`: the axes of the result in the order of the
// tensor.
static void takeShortAxes(SmallVectorImpl<int64_t> &axes, ArrayRef<int64_t> others, ArrayRef<int64_t> order,
                          ArrayRef<int64_t> shape, int64_t side) {
  int64_t product = shape[axes.front()];
  for (int64_t at = llvm::find(order, axes.front()) - order.begin() - 1;
       at >= 0 && !ShapedType::isDynamic(product) && product < side && !llvm::is_contained(others, order[at]);
       --at) {
    axes.insert(axes.begin(), order[at]);
    product = ShapedType::isDynamic(shape[order[at]]) ? ShapedType::kDynamic : product * shape[order[at]];
  }
}

static int64_t sideOf(Type element) { return kRowBytes / memoryBytes(element); }

std::optional<Transposition> device::matchTransposition(KernelOp kernel, std::string &reason) {
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  auto op = outputs.size() == 1 ? outputs.front().getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  bool copies = op && op.getNumDpsInputs() == 1 && op.getNumResults() == 1 &&
                op.getNumReductionLoops() == 0 && isa<BlockArgument>(op.getDpsInputs()[0]) &&
                op.getBlock()->getTerminator()->getOperand(0) == op.getBlock()->getArgument(0);
  AffineMap map = copies ? op.getMatchingIndexingMap(op.getDpsInputOperand(0)) : AffineMap();
  if (!copies || !map.isPermutation() || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity()) {
    reason = "it is more than a transposition";
    return std::nullopt;
  }
  if (llvm::is_contained(cast<RankedTensorType>(outputs.front().getType()).getShape(), 0)) {
    reason = "it has no elements";
    return std::nullopt;
  }
  int64_t writeAxis = contiguousAxis(cast<RankedTensorType>(outputs.front().getType()).getShape());
  int64_t own = contiguousAxis(cast<RankedTensorType>(op.getDpsInputs()[0].getType()).getShape());
  if (writeAxis < 0 || map.getDimPosition(own) == writeAxis) {
    reason = "what is contiguous stays contiguous";
    return std::nullopt;
  }
  Transposition found{op, {int64_t(map.getDimPosition(own))}, {writeAxis}};
  auto type = cast<RankedTensorType>(outputs.front().getType());
  SmallVector<int64_t> ofOperand, ofResult = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  for (AffineExpr expr : map.getResults())
    ofOperand.push_back(cast<AffineDimExpr>(expr).getPosition());
  int64_t side = sideOf(type.getElementType());
  takeShortAxes(found.writeAxes, found.readAxes, ofResult, type.getShape(), side);
  takeShortAxes(found.readAxes, found.writeAxes, ofOperand, type.getShape(), side);
  return found;
}

// Of the elements of tiles that begin in the tensor, most are in it.
static bool fillsTiles(int64_t size, int64_t side) {
  return 5 * size >= 4 * int64_t(llvm::alignTo(size, side));
}

bool device::hasAlignedRows(const Transposition &transposition) {
  auto type = cast<RankedTensorType>(transposition.op->getResult(0).getType());
  int64_t bytes = memoryBytes(type.getElementType());
  if (!type.hasStaticShape() || bytes >= kBankBytes)
    return false;
  return llvm::all_of(ArrayRef{transposition.readAxes, transposition.writeAxes}, [&](ArrayRef<int64_t> axes) {
    int64_t size = 1;
    for (int64_t axis : axes)
      size *= type.getDimSize(axis);
    return size * bytes % kAccessBytes == 0 && fillsTiles(size, sideOf(type.getElementType()));
  });
}

TransposeEmitter::TransposeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                   const Transposition &transposition)
    : GPUKernelEmitter(kernel, function), transposition(transposition) {
  bytes = memoryBytes(getElementTypeOrSelf(kernel.getResultTypes().front()));
  length = kAccessBytes / bytes;
  wordBytes = std::max(bytes, kBankBytes);
  side = sideOf(getElementTypeOrSelf(kernel.getResultTypes().front()));
}

bool TransposeEmitter::isAlong(int64_t axis) const {
  return llvm::is_contained(transposition.readAxes, axis) ||
         llvm::is_contained(transposition.writeAxes, axis);
}

Value TransposeEmitter::sizeAlong(ArrayRef<int64_t> axes) {
  Value size = indexConstant(1);
  for (int64_t axis : axes)
    size = binary<arith::MulIOp>(size, results.front().sizes[axis]);
  return size;
}

LogicalResult TransposeEmitter::emitOutputs() {
  shared = sharedMemory(builder, function, side * kRowBytes, "tile");
  launchShape = {MappingLevel::block, 0, static_cast<int64_t>(results.front().shape.size())};
  launchShape.elements = side * side;
  PerThread perThread(mapping);
  return emitTiles();
}

Value TransposeEmitter::tilesAlong(ArrayRef<int64_t> axes) {
  return builder.createOrFold<arith::CeilDivUIOp>(loc, sizeAlong(axes), indexConstant(side));
}

LogicalResult TransposeEmitter::emitTiles() {
  Value count =
      binary<arith::MulIOp>(tilesAlong(transposition.readAxes), tilesAlong(transposition.writeAxes));
  for (auto [axis, size] : llvm::enumerate(results.front().sizes))
    if (!isAlong(axis))
      count = binary<arith::MulIOp>(count, size);
  return emitLoop(mapping.block, count, mapping.gridBlocks, [&](Value number) {
    Tile tile = tileAt(number);
    mapping.synchronizeBlock(); // all threads have read the tile before
    if (failed(readTile(tile)))
      return failure();
    mapping.synchronizeBlock();
    return writeTile(tile);
  });
}

// Consecutive tiles are adjacent along the operand's contiguous axis, where they share cache lines.
TransposeEmitter::Tile TransposeEmitter::tileAt(Value number) {
  ArrayRef<Value> sizes = results.front().sizes;
  auto next = [&](Value count) -> Value {
    Value index = binary<arith::RemUIOp>(number, count);
    number = binary<arith::DivUIOp>(number, count);
    return index;
  };
  Tile tile{Position(sizes.size()), nullptr, nullptr};
  tile.read = binary<arith::MulIOp>(next(tilesAlong(transposition.readAxes)), indexConstant(side));
  tile.write = binary<arith::MulIOp>(next(tilesAlong(transposition.writeAxes)), indexConstant(side));
  for (int64_t axis = int64_t(sizes.size()) - 1; axis >= 0; --axis)
    if (!isAlong(axis))
      tile.origin[axis].base = next(sizes[axis]);
  return tile;
}

Position TransposeEmitter::positionAt(const Tile &tile, Value read, Value write) {
  Position position(tile.origin);
  setIndices(position, transposition.readAxes, binary<arith::AddIOp>(tile.read, read));
  setIndices(position, transposition.writeAxes, binary<arith::AddIOp>(tile.write, write));
  return position;
}

// The indices of axes that are one axis of the tile.
void TransposeEmitter::setIndices(Position &position, ArrayRef<int64_t> axes, Value index) {
  for (int64_t axis : llvm::reverse(axes.drop_front())) {
    Value size = results.front().sizes[axis];
    position[axis].base = binary<arith::RemUIOp>(index, size);
    index = binary<arith::DivUIOp>(index, size);
  }
  position[axes.front()].base = index;
}

// Null when every tile is inside the tensor.
Value TransposeEmitter::isInside(const Tile &tile, Value read, Value write) {
  Value all;
  auto require = [&](ArrayRef<int64_t> axes, Value index) {
    Value size = sizeAlong(axes);
    if (*constantOf(size) % side == 0)
      return;
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, size);
    all = all ? binary<arith::AndIOp>(all, below) : below;
  };
  require(transposition.readAxes, binary<arith::AddIOp>(tile.read, read));
  require(transposition.writeAxes, binary<arith::AddIOp>(tile.write, write));
  return all;
}

SmallVector<Value> TransposeEmitter::loadOperand(const Position &position, int64_t count) {
  linalg::GenericOp op = transposition.op;
  const Buffer &source = buffers.find(op.getDpsInputs()[0])->second;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  return vectorized.loadVector(source, maps.apply(map, position), count);
}

// Contiguous elements of the operand, as integers; zero outside of it, which no thread stores.
SmallVector<Value> TransposeEmitter::loadVectorOf(const Tile &tile, Value row, Value first) {
  Type memory = memoryType(results.front().element);
  Position position = positionAt(tile, first, row);
  auto load = [&] {
    return llvm::map_to_vector(loadOperand(position, length), [&](Value value) { return toMemory(value); });
  };
  Value within = isInside(tile, first, row);
  if (!within)
    return load();
  SmallVector<Type> types(length, memory);
  auto branch = scf::IfOp::create(builder, loc, types, within, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, load());
  builder.setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(memory));
  scf::YieldOp::create(builder, loc, SmallVector<Value>(length, zero));
  return SmallVector<Value>(branch.getResults());
}

// A warp that loads vectors of several rows of the operand writes so many contiguous words of a row of the
// tile.
int64_t TransposeEmitter::wordsPerWarpRow() {
  int64_t vectors = side / length;
  return kRowBytes / wordBytes / vectors;
}

// XOR swizzle: the words of row r are stored at word ^ (r / length * wordsPerWarpRow), so that the words
// which a warp writes at once are in different banks.
Value TransposeEmitter::stagedAddress(Value row, Value byte) {
  Value vector = binary<arith::DivUIOp>(row, indexConstant(length));
  Value shift = binary<arith::RemUIOp>(binary<arith::MulIOp>(vector, indexConstant(wordsPerWarpRow())),
                                       indexConstant(kRowBytes / wordBytes));
  Value each = indexConstant(wordBytes);
  Value word = binary<arith::XOrIOp>(binary<arith::DivUIOp>(byte, each), shift);
  Value offset = binary<arith::AddIOp>(binary<arith::MulIOp>(word, each), binary<arith::RemUIOp>(byte, each));
  Value start = binary<arith::MulIOp>(row, indexConstant(kRowBytes));
  return addBytes(builder, loc, shared, binary<arith::AddIOp>(start, offset));
}

// Rows of the tile are contiguous along the result: each element of a vector of the operand is stored in a
// row of its own, in one word with the elements of the adjacent vectors.
void TransposeEmitter::storeStaged(Value row, Value first, ArrayRef<SmallVector<Value>> vectors) {
  Value byte = binary<arith::MulIOp>(row, indexConstant(bytes));
  for (int64_t i = 0; i < length; ++i) {
    Type type = builder.getI32Type();
    Value word;
    for (auto [part, vector] : llvm::enumerate(vectors)) {
      Value element = arith::ExtUIOp::create(builder, loc, type, vector[i]);
      Value bits = arith::ConstantIntOp::create(builder, loc, type, 8 * bytes * part);
      word = word ? binary<arith::OrIOp>(word, arith::ShLIOp::create(builder, loc, element, bits)) : element;
    }
    Value address = stagedAddress(binary<arith::AddIOp>(first, indexConstant(i)), byte);
    LLVM::StoreOp::create(builder, loc, word, address, wordBytes);
  }
}

// Contiguous threads have contiguous vectors.
LogicalResult TransposeEmitter::forVectors(int64_t rows, VectorCode code) {
  Value vectors = indexConstant(side / length);
  return emitLoop(
      mapping.threadInBlock, indexConstant(side / rows * (side / length)), mapping.blockThreads,
      [&](Value number) {
        Value row = binary<arith::MulIOp>(binary<arith::DivUIOp>(number, vectors), indexConstant(rows));
        code(row, binary<arith::MulIOp>(binary<arith::RemUIOp>(number, vectors), indexConstant(length)));
        return success();
      });
}

LogicalResult TransposeEmitter::readTile(const Tile &tile) {
  int64_t rowsPerWord = wordBytes / bytes;
  return forVectors(rowsPerWord, [&](Value row, Value first) {
    SmallVector<SmallVector<Value>> vectors;
    for (int64_t part = 0; part < rowsPerWord; ++part)
      vectors.push_back(loadVectorOf(tile, binary<arith::AddIOp>(row, indexConstant(part)), first));
    storeStaged(row, first, vectors);
  });
}

// The swizzle leaves vectors contiguous.
SmallVector<Value> TransposeEmitter::loadStaged(Value row, Value first) {
  Type element = results.front().element;
  auto type = VectorType::get(length, memoryType(element));
  Value address = stagedAddress(row, binary<arith::MulIOp>(first, indexConstant(bytes)));
  Value vector = LLVM::LoadOp::create(builder, loc, type, address, kAccessBytes);
  SmallVector<Value> values;
  for (int64_t i = 0; i < length; ++i) {
    Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
    values.push_back(fromMemory(LLVM::ExtractElementOp::create(builder, loc, vector, index), element));
  }
  return values;
}

LogicalResult TransposeEmitter::writeTile(const Tile &tile) {
  return forVectors(/*rows=*/1, [&](Value row, Value first) {
    SmallVector<Value> values = loadStaged(row, first);
    Position position = positionAt(tile, row, first);
    auto store = [&] {
      vectorized.storeVector(results.front(), position, values);
      return success();
    };
    Value within = isInside(tile, row, first);
    (void)(within ? emitIf(within, store) : store());
  });
}
