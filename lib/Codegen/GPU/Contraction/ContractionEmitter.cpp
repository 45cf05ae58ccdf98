// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles of a contraction's result, one block of threads after another, and what the kernel makes of the sums.

#include "ContractionEmitter.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

ContractionEmitter::ContractionEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                       const Contraction &contraction, const ContractionTile &tile)
    : GPUKernelEmitter(kernel, function), contraction(contraction), tile(tile) {}

// The sums of a large tile take more than half of the registers.
int64_t ContractionEmitter::minBlocksPerSM() const { return tile.rows > 64 ? 1 : 2; }

// Left alone, ptxas computes the elements of a run side by side, in all registers that there are.
int64_t ContractionEmitter::maxRegisters() const {
  return contraction.units == Units::TensorCores && tile.rows > 64 ? 192 : 0;
}

// Every tensor begins at a multiple of 64 bytes, so the length of its rows says where its chunks do. Tensor
// cores take bytes along the depth alone.
ContractionEmitter::Staged ContractionEmitter::stagedOf(OpOperand *operand, unsigned loop, int64_t lines) {
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(operand);
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  Staged part{operand, loop,   reductions.loopSize(op, loop), lines, tile.depth, last != loop, last != loop,
              false,   nullptr};
  if (contraction.units == Units::TensorCores && part.elementBytes() == 1)
    part.alongDepth = true;
  if (!buffers.count(operand->get()) || (last != loop && last != contraction.depthLoop) ||
      part.alongDepth != part.memoryAlongDepth)
    return part;
  Value rest =
      binary<arith::RemUIOp>(reductions.loopSize(op, last), indexConstant(kChunkBytes / part.elementBytes()));
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(rest));
  part.whole = !known || *known == 0;
  if (!known)
    part.aligned = isEqual(rest, 0);
  return part;
}

// Integers have the same sums in any order, which need no permission.
void ContractionEmitter::recordUse() {
  linalg::GenericOp op = contraction.op;
  Type element = operandType();
  if (element.isF32())
    recordNumericsUse(op.getLoc(), "tf32", Permissions::narrow);
  else if (isa<FloatType>(element))
    recordNumericsUse(op.getLoc(), "tensor-cores", Permissions::mma);
}

LogicalResult ContractionEmitter::emitRoots() {
  bool tensorCores = contraction.units == Units::TensorCores;
  if (tensorCores)
    recordUse();
  bindSizes();
  staged[0] = stagedOf(contraction.rows, contraction.rowLoop, tile.rows);
  staged[1] = stagedOf(contraction.columns, contraction.columnLoop, tile.columns);
  shared = sharedMemory(builder, function, sharedBytes(), "shared");
  shareTiles();
  return emitLoop(mapping.block, countTiles(), mapping.gridBlocks, [&](Value number) {
    Place place = placeOf(number);
    return tensorCores ? emitTensorCores(place) : emitMultiplyAdds(place);
  });
}

void ContractionEmitter::bindSizes() {
  linalg::GenericOp op = contraction.op;
  rowCount = reductions.loopSize(op, contraction.rowLoop);
  columnCount = reductions.loopSize(op, contraction.columnLoop);
  depthCount = reductions.loopSize(op, contraction.depthLoop);
}

// The depth of an operand that lies in the memory of a GPU, of which none has a terabyte. Every thread has
// places for as many sums of blocks as that has doublings.
int64_t ContractionEmitter::longestReduction() const {
  bool inMemory = buffers.count(contraction.rows->get()) || buffers.count(contraction.columns->get());
  return inMemory ? int64_t(1) << 40 : GPUKernelEmitter::longestReduction();
}

// The host counts the tiles of a result whose size only the run knows.
void ContractionEmitter::shareTiles() {
  ArrayRef<int64_t> shape = results.front().shape;
  launchShape.level = MappingLevel::block;
  launchShape.clusterSize = tile.cluster;
  if (!ShapedType::isDynamicShape(shape)) {
    launchShape.gridSize = tilesOf(shape, tile);
    return;
  }
  launchShape.axes = shape.size();
  launchShape.tile = {tile.clusterRows(), tile.columns};
}

Value ContractionEmitter::divideUp(Value size, int64_t by) {
  return binary<arith::DivUIOp>(binary<arith::AddIOp>(size, indexConstant(by - 1)), indexConstant(by));
}

Value ContractionEmitter::countTiles() {
  Value count =
      binary<arith::MulIOp>(divideUp(rowCount, tile.clusterRows()), divideUp(columnCount, tile.columns));
  for (Value size : ArrayRef(results.front().sizes).drop_back(2))
    count = binary<arith::MulIOp>(count, size);
  return count;
}

// Quotient and rest.
std::pair<Value, Value> ContractionEmitter::divide(Value number, Value by) {
  return {binary<arith::DivUIOp>(number, by), binary<arith::RemUIOp>(number, by)};
}

// Tiles that share operands follow each other: down a column of some tiles, then across. A matrix that has no
// whole number of such strips ends in a lower one.
static constexpr int64_t kStripRows = 8;

Value ContractionEmitter::stripHeight(Value rows, Value first) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(rows));
  int64_t most = kStripRows / tile.cluster;
  if (known && (*known < most || *known % most == 0))
    return indexConstant(std::min(*known, most));
  return binary<arith::MinUIOp>(binary<arith::SubIOp>(rows, first), indexConstant(most));
}

std::pair<Value, Value> ContractionEmitter::tileInMatrix(Value number, Value rows, Value columns) {
  Value height = indexConstant(kStripRows / tile.cluster);
  auto [strip, inStrip] = divide(number, binary<arith::MulIOp>(height, columns));
  Value first = binary<arith::MulIOp>(strip, height);
  auto [column, row] = divide(inStrip, stripHeight(rows, first));
  return {binary<arith::AddIOp>(first, row), column};
}

ContractionEmitter::Place ContractionEmitter::placeOf(Value number) {
  Value rows = divideUp(rowCount, tile.clusterRows()), columns = divideUp(columnCount, tile.columns);
  auto [rest, inMatrix] = divide(number, binary<arith::MulIOp>(rows, columns));
  auto [row, column] = tileInMatrix(inMatrix, rows, columns);
  ArrayRef<Value> outer = ArrayRef(results.front().sizes).drop_back(2);
  Place place{Position(outer.size()), binary<arith::MulIOp>(row, indexConstant(tile.clusterRows())),
              binary<arith::MulIOp>(column, indexConstant(tile.columns))};
  for (int64_t axis = int64_t(outer.size()) - 1; axis >= 0; --axis) {
    auto [left, index] = divide(rest, outer[axis]);
    place.position[axis] = {index, 0, nullptr};
    rest = left;
  }
  return place;
}

Position ContractionEmitter::positionAt(const Place &place, Value row, Value column) {
  Position position(place.position);
  position.push_back({row, 0, nullptr});
  position.push_back({column, 0, nullptr});
  return position;
}

SmallVector<Index> ContractionEmitter::loopsAt(const Place &place, Value row, Value column, Value depth) {
  linalg::GenericOp op = contraction.op;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<Index> loops = evaluator.loopsFromOutput(op, out, positionAt(place, row, column));
  loops[contraction.depthLoop] = {depth, 0, nullptr};
  return loops;
}

// Of an operand, which has either the row or the column; outside of it the nearest element.
FailureOr<Value> ContractionEmitter::nearestElement(const Staged &part, const Place &place, Value index,
                                                    Value depth) {
  linalg::GenericOp op = contraction.op;
  Value one = indexConstant(1);
  index = binary<arith::MinUIOp>(index, binary<arith::SubIOp>(part.size, one));
  depth = binary<arith::MinUIOp>(depth, binary<arith::SubIOp>(depthCount, one));
  PerThread perThread(mapping);
  AffineMap map = op.getMatchingIndexingMap(part.operand);
  return evaluator.evaluateOne(part.operand->get(),
                               evaluator.apply(map, loopsAt(place, index, index, depth)));
}

// Neighbouring threads take neighbours. Without a branch between its shares, what a thread computes of places
// does not have to be computed again for each piece.
LogicalResult ContractionEmitter::shareAmongThreads(int64_t count, function_ref<LogicalResult(Value)> code) {
  constexpr int64_t mostShares = 16;
  if (count % kBlockThreads != 0 || count > mostShares * kBlockThreads)
    return emitLoop(mapping.threadInBlock, indexConstant(count), indexConstant(kBlockThreads), code);
  for (int64_t first = 0; first < count; first += kBlockThreads)
    if (failed(code(binary<arith::AddIOp>(mapping.threadInBlock, indexConstant(first)))))
      return failure();
  return success();
}

// Known of sizes that are whole numbers of tiles; 0: tiles may begin anywhere.
Value ContractionEmitter::isInside(Value index, Value size, int64_t tileSize) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(size));
  if (known && tileSize > 0 && *known % tileSize == 0)
    return arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  return isBelow(index, size);
}

// What lies outside of the operand becomes zero. Less than a chunk goes through the first-level cache, as the
// hardware has it.
void ContractionEmitter::copyAsync(const Staged &part, const Place &place, Value index, Value depth,
                                   Value target, int64_t bytes) {
  constexpr unsigned globalSpace = 1;
  linalg::GenericOp op = contraction.op;
  // Blocks of a sum may end within a piece, and the next one begins there.
  int64_t pieces = contraction.units != Units::MultiplyAdds || hasWholePieces() ? tile.depth : 0;
  Value inside =
      binary<arith::AndIOp>(isInside(index, part.size, part.lines), isInside(depth, depthCount, pieces));
  auto orFirst = [&](Value number) {
    return builder.createOrFold<arith::SelectOp>(loc, inside, number, indexConstant(0));
  };
  index = orFirst(index);
  Position position =
      evaluator.apply(op.getMatchingIndexingMap(part.operand), loopsAt(place, index, index, orFirst(depth)));
  const Buffer &buffer = buffers.find(part.operand->get())->second;
  int64_t step;
  Value vector;
  Value source = memoryAccess.pointerAt(buffer, memoryAccess.linearIndex(buffer, position, step, vector));
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace);
  source = LLVM::AddrSpaceCastOp::create(builder, loc, global, source);
  auto number = [&](int64_t count) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), count);
  };
  Value size = builder.createOrFold<arith::SelectOp>(loc, inside, number(bytes), number(0));
  auto cache = bytes == kChunkBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, target, source, bytes, cache, size);
}

// Sums lie where the operands did, as many rows at a time as there is place for.
int64_t ContractionEmitter::sharedBytes() {
  int64_t forOperands = 0;
  for (Staged &part : staged) {
    bool tensorCores = contraction.units == Units::TensorCores;
    int64_t elements = (tensorCores ? part.lines : distanceInDepth(part)) * part.count;
    part.offset = forOperands;
    forOperands += llvm::alignTo(elements * part.elementBytes() * tile.stages, 128);
  }
  rowsTogether = tile.rows;
  if (contraction.units == Units::TensorCores)
    rowsTogether = tile.rows / tile.warpsDown;
  int64_t rowBytes = tile.columns * memoryBytes(sumType());
  while (rowsTogether * rowBytes > kSharedBytes)
    rowsTogether /= 2;
  int64_t bytes = std::max(rowsTogether * rowBytes, forOperands);
  assert(bytes <= kSharedBytes && "tiles fit into shared memory");
  return bytes;
}

Value ContractionEmitter::sharedPointer(Value byte) { return bytesBehind(builder, loc, shared, byte); }

Value ContractionEmitter::isBelow(Value index, Value size) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, size);
}

Value ContractionEmitter::isEqual(Value index, int64_t value) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index, indexConstant(value));
}

// A condition that is known leaves no branch.
LogicalResult ContractionEmitter::emitWhen(Value condition, function_ref<LogicalResult()> code) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(condition));
  if (known)
    return *known ? code() : success();
  return emitIf(condition, code);
}

// All threads of the block share some rows of the tile.
ContractionEmitter::Sums ContractionEmitter::sumsOfBlock(int64_t firstRow, int64_t rows) {
  Value zero = indexConstant(0);
  return {indexConstant(firstRow), zero, rows, tile.columns, zero, mapping.threadInBlock, kBlockThreads};
}
