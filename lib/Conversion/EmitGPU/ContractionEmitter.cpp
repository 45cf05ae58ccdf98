// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles of a contraction's result, one block of threads after another, and what the kernel makes of the sums.

#include "ContractionEmitter.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Tiles that keep the processors of a large chip busy.
static constexpr int64_t kManyTiles = 128;

static int64_t tilesOf(ArrayRef<int64_t> shape, const ContractionTile &tile) {
  int64_t count = 1;
  for (int64_t size : shape.drop_back(2))
    count *= size;
  return count * int64_t(llvm::divideCeil(shape[shape.size() - 2], tile.rows)) *
         int64_t(llvm::divideCeil(shape.back(), tile.columns));
}

// The tiles of each kind, from large to small. Those of warpgroups have 64 rows for each of them.
static ArrayRef<ContractionTile> tilesFor(Units units) {
  static constexpr ContractionTile forMultiplyAdds[] = {{128, 128, 8, 0, 0, 1, 0}, {64, 64, 16, 0, 0, 1, 0}};
  static constexpr ContractionTile forTensorCores[] = {{128, 128, 32, 2, 4, 3, 0}, {64, 64, 32, 2, 4, 3, 0}};
  static constexpr ContractionTile forWarpgroups[] = {
      {128, 256, 64, 0, 0, 4, 2}, {128, 128, 64, 0, 0, 4, 2}, {64, 64, 64, 0, 0, 4, 1}};
  switch (units) {
  case Units::MultiplyAdds:
    return forMultiplyAdds;
  case Units::TensorCores:
    return forTensorCores;
  case Units::Warpgroups:
    return forWarpgroups;
  }
  llvm_unreachable("all units have tiles");
}

// The largest tile of which there are enough, and which is no larger than the result.
static ContractionTile chooseTile(ArrayRef<int64_t> shape, const Contraction &contraction, StringRef wanted) {
  constexpr int64_t smallest = 64;
  ArrayRef<ContractionTile> table = tilesFor(contraction.units);
  linalg::GenericOp op = contraction.op;
  bool wide = cast<RankedTensorType>(op.getResult(0).getType()).getElementTypeBitWidth() > 32;
  for (const ContractionTile &tile : table)
    if (wanted == std::to_string(tile.rows) + "x" + std::to_string(tile.columns))
      return tile;
  for (const ContractionTile &tile : table.drop_back())
    if (!wide && tilesOf(shape, tile) >= kManyTiles &&
        tile.columns <= int64_t(llvm::alignTo(shape.back(), smallest)))
      return tile;
  return table.back();
}

ContractionEmitter::ContractionEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                       const Contraction &contraction, StringRef wanted)
    : GenericEmitter(kernel, function), contraction(contraction) {
  linalg::GenericOp op = this->contraction.op;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  rowCount = sizes[contraction.rowLoop];
  columnCount = sizes[contraction.columnLoop];
  depthCount = sizes[contraction.depthLoop];
  tile = chooseTile(cast<RankedTensorType>(op.getResult(0).getType()).getShape(), contraction, wanted);
}

// The sums of a large tile take more than half of the registers.
int64_t ContractionEmitter::blocksTogether() const { return tile.rows > 64 ? 1 : 2; }

ContractionEmitter::Staged ContractionEmitter::stagedOf(OpOperand *operand, unsigned loop, int64_t lines) {
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(operand);
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  auto type = cast<RankedTensorType>(operand->get().getType());
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t bytes = cpu::memoryBytes(type.getElementType());
  bool inMemory = buffers.count(operand->get()) && (last == loop || last == contraction.depthLoop);
  bool whole = inMemory && sizes[last] * bytes % kChunkBytes == 0;
  return {operand, loop, sizes[loop], lines, tile.depth, last != loop, whole};
}

LogicalResult ContractionEmitter::emitRoots() {
  linalg::GenericOp op = contraction.op;
  bool tensorCores = contraction.units == Units::TensorCores;
  if (tensorCores)
    recordNumericsUse(op.getLoc(), "tensor-cores", Permissions::mma);
  staged[0] = stagedOf(contraction.rows, contraction.rowLoop, tile.rows);
  staged[1] = stagedOf(contraction.columns, contraction.columnLoop, tile.columns);
  shared = sharedMemory(builder, function, sharedBytes(), "shared");
  tileCount.takers = "blocks";
  tileCount.blocks = countTiles();
  return emitLoop(block, indexConstant(countTiles()), blocks, [&](Value number) {
    Place place = placeOf(number);
    return tensorCores ? emitTensorCores(place) : emitMultiplyAdds(place);
  });
}

int64_t ContractionEmitter::countTiles() const { return tilesOf(results.front().shape, tile); }

// By a number that is not constant; of 64 bits it would be a function that ptxas calls.
std::pair<Value, Value> ContractionEmitter::divide(Value number, Value by) {
  Type word = builder.getI32Type(), index = builder.getIndexType();
  Value left = builder.createOrFold<arith::IndexCastOp>(loc, word, number);
  Value right = builder.createOrFold<arith::IndexCastOp>(loc, word, by);
  Value quotient = binary<arith::DivUIOp>(left, right), rest = binary<arith::RemUIOp>(left, right);
  return {builder.createOrFold<arith::IndexCastOp>(loc, index, quotient),
          builder.createOrFold<arith::IndexCastOp>(loc, index, rest)};
}

// Tiles that share operands follow each other: down a column of some tiles, then across. A matrix that has no
// whole number of such strips ends in a lower one.
std::pair<Value, Value> ContractionEmitter::tileInMatrix(Value number, int64_t rows, int64_t columns) {
  constexpr int64_t together = 8;
  Value size = indexConstant(together * columns), strip = binary<arith::DivUIOp>(number, size);
  Value inStrip = binary<arith::RemUIOp>(number, size);
  Value first = binary<arith::MulIOp>(strip, indexConstant(together)), height = indexConstant(together);
  if (rows < together)
    height = indexConstant(rows);
  else if (rows % together != 0)
    height = binary<arith::MinUIOp>(binary<arith::SubIOp>(indexConstant(rows), first), height);
  auto [column, row] = divide(inStrip, height);
  return {binary<arith::AddIOp>(first, row), column};
}

ContractionEmitter::Place ContractionEmitter::placeOf(Value number) {
  auto next = [&](int64_t count) -> Value {
    Value size = indexConstant(count), index = binary<arith::RemUIOp>(number, size);
    number = binary<arith::DivUIOp>(number, size);
    return index;
  };
  int64_t rows = llvm::divideCeil(rowCount, tile.rows), columns = llvm::divideCeil(columnCount, tile.columns);
  auto [row, column] = tileInMatrix(next(rows * columns), rows, columns);
  ArrayRef<int64_t> outer = ArrayRef<int64_t>(results.front().shape).drop_back(2);
  Place place{Position(outer.size()), binary<arith::MulIOp>(row, indexConstant(tile.rows)),
              binary<arith::MulIOp>(column, indexConstant(tile.columns))};
  for (int64_t axis = int64_t(outer.size()) - 1; axis >= 0; --axis)
    place.position[axis] = {next(outer[axis]), 0, nullptr};
  return place;
}

cpu::Position ContractionEmitter::positionAt(const Place &place, Value row, Value column) {
  Position position(place.position);
  position.push_back({row, 0, nullptr});
  position.push_back({column, 0, nullptr});
  return position;
}

SmallVector<cpu::Index> ContractionEmitter::loopsAt(const Place &place, Value row, Value column,
                                                    Value depth) {
  linalg::GenericOp op = contraction.op;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<Index> loops = loopsFromOutput(op, out, positionAt(place, row, column));
  loops[contraction.depthLoop] = {depth, 0, nullptr};
  return loops;
}

// Of an operand, which has either the row or the column; outside of it the nearest element.
FailureOr<Value> ContractionEmitter::nearestElement(const Staged &part, const Place &place, Value index,
                                                    Value depth) {
  linalg::GenericOp op = contraction.op;
  index = binary<arith::MinUIOp>(index, indexConstant(part.size - 1));
  depth = binary<arith::MinUIOp>(depth, indexConstant(depthCount - 1));
  Spread ofThread(*this);
  AffineMap map = op.getMatchingIndexingMap(part.operand);
  return evaluateOne(part.operand->get(), apply(map, loopsAt(place, index, index, depth)));
}

int64_t ContractionEmitter::sharedBytes() {
  linalg::GenericOp op = contraction.op;
  int64_t sums = cast<RankedTensorType>(op.getResult(0).getType()).getElementTypeBitWidth() / 8;
  auto bytesOf = [&](int64_t rows) { return rows * (tile.columns + 1) * sums; };
  rowsTogether = tile.rows;
  if (contraction.units == Units::TensorCores)
    rowsTogether = tile.rows / tile.warpsDown;
  else if (bytesOf(rowsTogether) > kSharedBytes)
    rowsTogether /= 2;
  int64_t forSums = bytesOf(rowsTogether), forOperands = 0;
  for (Staged &part : staged) {
    Type element = cast<RankedTensorType>(part.operand->get().getType()).getElementType();
    int64_t bytes = cpu::memoryBytes(element);
    part.offset = forOperands;
    int64_t elements = (part.lines + (contraction.units == Units::TensorCores ? 0 : 1)) * part.count;
    forOperands += llvm::alignTo(elements * bytes * tile.stages, 128);
  }
  int64_t bytes = std::max(forSums, forOperands);
  assert(bytes <= kSharedBytes && "tiles fit into shared memory");
  return bytes;
}

Value ContractionEmitter::sharedPointer(Value byte) { return bytesBehind(builder, loc, shared, byte); }

Value ContractionEmitter::isBelow(Value index, int64_t size) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, indexConstant(size));
}

// All threads of the block share some rows of the tile, which are one element longer, so that neighbours lie
// in other banks.
ContractionEmitter::Sums ContractionEmitter::sumsOfBlock(int64_t firstRow, int64_t rows) {
  Value zero = indexConstant(0);
  return {indexConstant(firstRow), zero, rows, tile.columns, zero, tile.columns + 1, inBlock, kBlockThreads};
}

Value ContractionEmitter::sumPointer(const Sums &sums, Value row, Value column) {
  linalg::GenericOp op = contraction.op;
  int64_t bytes = cast<RankedTensorType>(op.getResult(0).getType()).getElementTypeBitWidth() / 8;
  Value index = binary<arith::AddIOp>(binary<arith::MulIOp>(row, indexConstant(sums.rowLength)), column);
  Value byte = binary<arith::MulIOp>(index, indexConstant(bytes));
  return sharedPointer(binary<arith::AddIOp>(byte, sums.offset));
}

// Neighbouring threads take neighbouring elements of a row, and stay in their column.
LogicalResult ContractionEmitter::emitResults(const Place &place, const Sums &sums) {
  linalg::GenericOp op = contraction.op;
  Type element = cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
  assert(sums.threads % sums.columns == 0 && "a row is shared by some of the threads");
  Value width = indexConstant(sums.columns), inColumn = binary<arith::RemUIOp>(sums.thread, width);
  Value column = binary<arith::AddIOp>(binary<arith::AddIOp>(place.column, sums.column), inColumn);
  Value first = binary<arith::DivUIOp>(sums.thread, width);
  Value together = indexConstant(sums.threads / sums.columns);
  return emitLoop(first, indexConstant(sums.rows), together, [&](Value inRow) {
    Value row = binary<arith::AddIOp>(binary<arith::AddIOp>(place.row, sums.row), inRow);
    Value inside = binary<arith::AndIOp>(isBelow(row, rowCount), isBelow(column, columnCount));
    auto branch = scf::IfOp::create(builder, loc, inside);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Scope scope(*this);
    Spread ofThread(*this);
    Position position = positionAt(place, row, column);
    remember(op.getResult(0), position,
             LLVM::LoadOp::create(builder, loc, element, sumPointer(sums, inRow, inColumn)));
    return storeRoots(kernel.getBody().front().getTerminator()->getOperands(), results, position);
  });
}
