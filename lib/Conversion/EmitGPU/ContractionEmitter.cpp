// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles of a contraction's result, one block of threads after another, and what the kernel makes of the sums.

#include "ContractionEmitter.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Without asking the driver for more a block has this much shared memory.
static constexpr int64_t kSharedBytes = 48 * 1024;
// Tiles that keep the processors of a large chip busy.
static constexpr int64_t kManyTiles = 128;
static constexpr unsigned kSharedSpace = 3;

static int64_t tilesOf(ArrayRef<int64_t> shape, const ContractionTile &tile) {
  int64_t count = 1;
  for (int64_t size : shape.drop_back(2))
    count *= size;
  return count * int64_t(llvm::divideCeil(shape[shape.size() - 2], tile.rows)) *
         int64_t(llvm::divideCeil(shape.back(), tile.columns));
}

// The largest tile of which there are enough.
static ContractionTile chooseTile(ArrayRef<int64_t> shape, const Contraction &contraction) {
  static constexpr ContractionTile forTensorCores[] = {{128, 128, 32, 2, 4, 3}, {64, 64, 32, 2, 4, 3}};
  static constexpr ContractionTile forMultiplyAdds[] = {{128, 128, 8, 0, 0, 1}, {64, 64, 16, 0, 0, 1}};
  linalg::GenericOp op = contraction.op;
  bool large = cast<RankedTensorType>(op.getResult(0).getType()).getElementTypeBitWidth() <= 32;
  ArrayRef<ContractionTile> table =
      contraction.tensorCores ? ArrayRef(forTensorCores) : ArrayRef(forMultiplyAdds);
  return large && tilesOf(shape, table.front()) >= kManyTiles ? table.front() : table.back();
}

ContractionEmitter::ContractionEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                       const Contraction &contraction)
    : GenericEmitter(kernel, function), contraction(contraction) {
  linalg::GenericOp op = this->contraction.op;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  rowCount = sizes[contraction.rowLoop];
  columnCount = sizes[contraction.columnLoop];
  depthCount = sizes[contraction.depthLoop];
  tile = chooseTile(cast<RankedTensorType>(op.getResult(0).getType()).getShape(), contraction);
}

// The sums of a large tile take more than half of the registers.
int64_t ContractionEmitter::blocksTogether() const { return tile.rows > 64 ? 1 : 2; }

void ContractionEmitter::bindRange(ValueRange arguments) {
  using ::mlir::gpu::Dimension;
  GenericEmitter::bindRange(arguments);
  inBlock = ::mlir::gpu::ThreadIdOp::create(builder, loc, Dimension::x);
  block = ::mlir::gpu::BlockIdOp::create(builder, loc, Dimension::x);
  blocks = ::mlir::gpu::GridDimOp::create(builder, loc, Dimension::x);
}

ContractionEmitter::Staged ContractionEmitter::stagedOf(OpOperand *operand, unsigned loop, int64_t lines) {
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(operand);
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  auto type = cast<RankedTensorType>(operand->get().getType());
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t bytes = cpu::memoryType(type.getElementType()).getIntOrFloatBitWidth() / 8;
  bool inMemory = buffers.count(operand->get()) && (last == loop || last == contraction.depthLoop);
  bool whole = inMemory && sizes[last] * bytes % kChunkBytes == 0;
  return {operand, loop, sizes[loop], lines, tile.depth, last != loop, whole};
}

LogicalResult ContractionEmitter::emitRoots() {
  linalg::GenericOp op = contraction.op;
  if (contraction.tensorCores)
    recordNumericsUse(op.getLoc(), "tensor-cores", Permissions::mma);
  staged[0] = stagedOf(contraction.rows, contraction.rowLoop, tile.rows);
  staged[1] = stagedOf(contraction.columns, contraction.columnLoop, tile.columns);
  shared = sharedMemory(sharedBytes());
  int64_t count = tilesOf(results.front().shape, tile);
  tileCount = {"blocks", 0, 0, count};
  return emitLoop(block, indexConstant(count), blocks, [&](Value number) {
    Place place = placeOf(number);
    return contraction.tensorCores ? emitTensorCores(place) : emitMultiplyAdds(place);
  });
}

// Tiles of one column of tiles follow each other: they share an operand.
ContractionEmitter::Place ContractionEmitter::placeOf(Value number) {
  auto next = [&](int64_t count) -> Value {
    Value size = indexConstant(count), index = binary<arith::RemUIOp>(number, size);
    number = binary<arith::DivUIOp>(number, size);
    return index;
  };
  Value row = next(llvm::divideCeil(rowCount, tile.rows)),
        column = next(llvm::divideCeil(columnCount, tile.columns));
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
  if (contraction.tensorCores)
    rowsTogether = tile.rows / tile.warpsDown;
  else if (bytesOf(rowsTogether) > kSharedBytes)
    rowsTogether /= 2;
  int64_t forSums = bytesOf(rowsTogether), forOperands = 0;
  for (Staged &part : staged) {
    Type element = cast<RankedTensorType>(part.operand->get().getType()).getElementType();
    int64_t bytes = cpu::memoryType(element).getIntOrFloatBitWidth() / 8;
    part.offset = forOperands;
    int64_t elements = (part.lines + (contraction.tensorCores ? 0 : 1)) * part.count;
    forOperands += llvm::alignTo(elements * bytes * tile.stages, 128);
  }
  int64_t bytes = std::max(forSums, forOperands);
  assert(bytes <= kSharedBytes && "tiles fit into shared memory");
  return bytes;
}

// A global of the module, which has one place in each block.
Value ContractionEmitter::sharedMemory(int64_t bytes) {
  Operation *function = this->function;
  OpBuilder outside(function);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes);
  std::string name = (kernel.getSymName() + "_shared").str();
  auto global = LLVM::GlobalOp::create(outside, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal,
                                       name, Attribute(), /*alignment=*/128, kSharedSpace);
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value ContractionEmitter::sharedPointer(Value byte) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), byte);
  return LLVM::GEPOp::create(builder, loc, shared.getType(), builder.getI8Type(), shared, ValueRange{offset});
}

Value ContractionEmitter::isBelow(Value index, int64_t size) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, indexConstant(size));
}

void ContractionEmitter::synchronizeBlock() { ::mlir::gpu::BarrierOp::create(builder, loc); }

// The rows of sums that lie in shared memory are one element longer, so that neighbours lie in other banks.
Value ContractionEmitter::accumulatorPointer(Value row, Value column) {
  linalg::GenericOp op = contraction.op;
  int64_t bytes = cast<RankedTensorType>(op.getResult(0).getType()).getElementTypeBitWidth() / 8;
  Value index = binary<arith::AddIOp>(binary<arith::MulIOp>(row, indexConstant(tile.columns + 1)), column);
  return sharedPointer(binary<arith::MulIOp>(index, indexConstant(bytes)));
}

// Neighbouring threads take neighbouring elements of a row.
LogicalResult ContractionEmitter::emitResults(const Place &place, Value firstRow, int64_t rows) {
  linalg::GenericOp op = contraction.op;
  Type element = cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
  Value width = indexConstant(tile.columns);
  return emitLoop(
      inBlock, indexConstant(rows * tile.columns), indexConstant(kBlockThreads), [&](Value number) {
        Value inRow = binary<arith::DivUIOp>(number, width), inColumn = binary<arith::RemUIOp>(number, width);
        Value row = binary<arith::AddIOp>(binary<arith::AddIOp>(place.row, firstRow), inRow);
        Value column = binary<arith::AddIOp>(place.column, inColumn);
        Value inside = binary<arith::AndIOp>(isBelow(row, rowCount), isBelow(column, columnCount));
        auto branch = scf::IfOp::create(builder, loc, inside);
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(branch.thenBlock());
        Scope scope(*this);
        Spread ofThread(*this);
        Position position = positionAt(place, row, column);
        remember(op.getResult(0), position,
                 LLVM::LoadOp::create(builder, loc, element, accumulatorPointer(inRow, inColumn)));
        return storeRoots(kernel.getBody().front().getTerminator()->getOperands(), results, position);
      });
}
