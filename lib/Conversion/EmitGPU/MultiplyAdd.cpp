// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions in the order of the kernel: each thread has some rows and columns of the tile, whose chains it
// continues piece by piece of the operands. Blocks of a chain are joined as everywhere (PairwiseTree.cpp).

#include "ContractionEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Threads along a row and along a column of a tile: neighbours read neighbouring columns.
static constexpr int64_t kThreadsAcross = 16, kThreadsDown = kBlockThreads / kThreadsAcross;

// Between neighbours along the depth: a little more than the tile has lines, so that what a warp stores along
// the depth lies in different banks.
int64_t ContractionEmitter::distanceInDepth(const Staged &part) {
  constexpr int64_t bankBytes = 128;
  return part.lines + std::max<int64_t>(1, bankBytes / (part.count * part.elementBytes()));
}

Value ContractionEmitter::elementPointer(const Staged &part, Value line, Value within) {
  Value start = binary<arith::MulIOp>(within, indexConstant(distanceInDepth(part)));
  Value index = binary<arith::AddIOp>(start, line);
  Value byte = binary<arith::MulIOp>(index, indexConstant(part.elementBytes()));
  return sharedPointer(binary<arith::AddIOp>(byte, indexConstant(part.offset)));
}

// Nothing uses what lies outside of the operand.
LogicalResult ContractionEmitter::copyElements(const Staged &part, const Place &place, Value depth) {
  bool rows = part.lineLoop == contraction.rowLoop;
  Value length = indexConstant(part.lineLength()), all = indexConstant(part.lines * part.count);
  return emitLoop(inBlock, all, indexConstant(kBlockThreads), [&](Value number) -> LogicalResult {
    Value slow = binary<arith::DivUIOp>(number, length), fast = binary<arith::RemUIOp>(number, length);
    auto [line, within] = part.alongDepth ? std::pair(slow, fast) : std::pair(fast, slow);
    Value index = binary<arith::AddIOp>(rows ? place.row : place.column, line);
    FailureOr<Value> value = nearestElement(part, place, index, binary<arith::AddIOp>(depth, within));
    if (failed(value))
      return failure();
    LLVM::StoreOp::create(builder, loc, toMemory(*value), elementPointer(part, line, within));
    return success();
  });
}

// One step of the depth: every row and column that the thread has is read once.
FailureOr<SmallVector<Value>> ContractionEmitter::addProducts(ArrayRef<SmallVector<Index>> loops,
                                                              ValueRange sums, Value depth, Value within) {
  linalg::GenericOp op = contraction.op;
  Scope scope(*this);
  int64_t across = tile.columns / kThreadsAcross;
  SmallVector<Value> next;
  for (auto [number, sum] : llvm::enumerate(sums)) {
    SmallVector<Index> at(loops[number]);
    at[contraction.depthLoop] = {depth, 0, nullptr};
    for (const Staged &part : staged) {
      bool rows = part.lineLoop == contraction.rowLoop;
      // Each row with its first column, each column with its first row.
      if (rows ? number % across != 0 : int64_t(number) >= across)
        continue;
      Type element = cast<RankedTensorType>(part.operand->get().getType()).getElementType();
      Value line = rows ? threadRow(number / across) : threadColumn(number);
      Value loaded =
          LLVM::LoadOp::create(builder, loc, cpu::memoryType(element), elementPointer(part, line, within));
      remember(part.operand->get(), apply(op.getMatchingIndexingMap(part.operand), at),
               fromMemory(loaded, element));
    }
    auto values = applyBody(op, at, sum);
    if (failed(values))
      return failure();
    next.push_back(values->front());
  }
  return next;
}

// From one piece of the operands to the next all threads of the block wait for each other.
FailureOr<SmallVector<Value>> ContractionEmitter::sumPieces(const Place &place,
                                                            ArrayRef<SmallVector<Index>> loops,
                                                            ArrayRef<Value> start, Value lower, Value upper) {
  auto pieces = scf::ForOp::create(builder, loc, lower, upper, indexConstant(tile.depth), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(pieces.getBody());
  Scope scope(*this);
  Value piece = pieces.getInductionVar();
  synchronizeBlock();
  for (const Staged &part : staged)
    if (failed(copyElements(part, place, piece)))
      return failure();
  synchronizeBlock();
  Value count = binary<arith::MinUIOp>(indexConstant(tile.depth), binary<arith::SubIOp>(upper, piece));
  auto steps = scf::ForOp::create(builder, loc, indexConstant(0), count, indexConstant(1),
                                  ValueRange(pieces.getRegionIterArgs()));
  scf::YieldOp::create(builder, loc, steps.getResults());
  builder.setInsertionPointToStart(steps.getBody());
  Value within = steps.getInductionVar(), depth = binary<arith::AddIOp>(piece, within);
  auto sums = addProducts(loops, steps.getRegionIterArgs(), depth, within);
  if (failed(sums))
    return failure();
  scf::YieldOp::create(builder, loc, *sums);
  return SmallVector<Value>(pieces.getResults());
}

Value ContractionEmitter::threadRow(int64_t number) {
  Value first = binary<arith::DivUIOp>(inBlock, indexConstant(kThreadsAcross));
  return binary<arith::AddIOp>(first, indexConstant(number * kThreadsDown));
}

Value ContractionEmitter::threadColumn(int64_t number) {
  Value first = binary<arith::RemUIOp>(inBlock, indexConstant(kThreadsAcross));
  return binary<arith::AddIOp>(first, indexConstant(number * kThreadsAcross));
}

LogicalResult ContractionEmitter::emitMultiplyAdds(const Place &place) {
  linalg::GenericOp op = contraction.op;
  int64_t down = tile.rows / kThreadsDown, across = tile.columns / kThreadsAcross;
  // One value for each row and column, by which their elements are known in every product.
  SmallVector<Value> rows, columns;
  for (int64_t i = 0; i < down; ++i)
    rows.push_back(binary<arith::AddIOp>(place.row, threadRow(i)));
  for (int64_t j = 0; j < across; ++j)
    columns.push_back(binary<arith::AddIOp>(place.column, threadColumn(j)));
  SmallVector<SmallVector<Index>> loops;
  SmallVector<Value> start;
  for (Value row : rows)
    for (Value column : columns) {
      loops.push_back(loopsAt(place, row, column, indexConstant(0)));
      FailureOr<Value> identity = evaluateOne(op.getDpsInits()[0], positionAt(place, row, column));
      if (failed(identity))
        return failure();
      start.push_back(*identity);
    }
  auto block = [&](Value lower, Value upper) { return sumPieces(place, loops, start, lower, upper); };
  OrderAttr order = kernel.getOrderAttr();
  Operation *join = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  auto sums = order ? pairwiseTree(depthCount, order.getLength(), start, join, block)
                    : block(indexConstant(0), depthCount);
  if (failed(sums))
    return failure();
  return storeSums(place, *sums, down, across);
}

// As many rows as fit into shared memory after the other.
LogicalResult ContractionEmitter::storeSums(const Place &place, ValueRange sums, int64_t down,
                                            int64_t across) {
  int64_t together = rowsTogether / kThreadsDown;
  for (int64_t first = 0; first < down; first += together) {
    Sums inShared = sumsOfBlock(first * kThreadsDown, together * kThreadsDown);
    synchronizeBlock();
    for (int64_t i = 0; i < together; ++i)
      for (int64_t j = 0; j < across; ++j)
        LLVM::StoreOp::create(builder, loc, sums[(first + i) * across + j],
                              sumPointer(inShared, threadRow(i), threadColumn(j)));
    synchronizeBlock();
    if (failed(emitResults(place, inShared)))
      return failure();
  }
  synchronizeBlock();
  return success();
}
