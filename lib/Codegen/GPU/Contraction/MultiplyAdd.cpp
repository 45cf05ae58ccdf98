// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions in the order of the kernel: each thread has some rows and columns of the tile, whose chains it
// continues piece by piece of the operands, while the next pieces are on their way. Blocks of a chain are
// joined as everywhere (PairwiseTree.cpp).

#include "ContractionEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Threads along a row and along a column of a tile.
static constexpr int64_t kThreadsAcross = 16, kThreadsDown = kBlockThreads / kThreadsAcross;
// The same of a warp, which then reads few lines of each operand, and those of the columns side by side.
static constexpr int64_t kWarpAcross = 8, kWarpDown = kWarpThreads / kWarpAcross;
static constexpr int64_t kWarpsAcross = kThreadsAcross / kWarpAcross;

// A thread has groups of neighbouring lines, at the distance in which all threads have one.
Value ContractionEmitter::threadLine(Value place, int64_t places, int64_t number) {
  int64_t first = number / kLineGroup * places * kLineGroup + number % kLineGroup;
  return binary<arith::AddIOp>(binary<arith::MulIOp>(place, indexConstant(kLineGroup)), indexConstant(first));
}

Value ContractionEmitter::threadRow(int64_t number) {
  Value warpsAbove =
      binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads * kWarpsAcross));
  Value inWarp = binary<arith::DivUIOp>(mapping.lane, indexConstant(kWarpAcross));
  Value place = binary<arith::AddIOp>(binary<arith::MulIOp>(warpsAbove, indexConstant(kWarpDown)), inWarp);
  return threadLine(place, kThreadsDown, number);
}

Value ContractionEmitter::threadColumn(int64_t number) {
  Value warpInBlock = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads));
  Value warpsBefore = binary<arith::RemUIOp>(warpInBlock, indexConstant(kWarpsAcross));
  Value inWarp = binary<arith::RemUIOp>(mapping.lane, indexConstant(kWarpAcross));
  Value place = binary<arith::AddIOp>(binary<arith::MulIOp>(warpsBefore, indexConstant(kWarpAcross)), inWarp);
  return threadLine(place, kThreadsAcross, number);
}

// All lines of an operand that the thread has, a group at a time, as what the body reads of them.
void ContractionEmitter::loadLines(const Staged &part, ArrayRef<SmallVector<Index>> loops, Value depth,
                                   Value within, Value stage) {
  linalg::GenericOp op = contraction.op;
  bool rows = part.lineLoop == contraction.rowLoop;
  int64_t across = tile.columns / kThreadsAcross;
  Type element = getElementTypeOrSelf(part.operand->get().getType()), inMemory = memoryType(element);
  int64_t alignment = std::min(kChunkBytes, kLineGroup * part.elementBytes());
  for (int64_t first = 0; first < (rows ? tile.rows / kThreadsDown : across); first += kLineGroup) {
    Value pointer = elementPointer(part, stage, rows ? threadRow(first) : threadColumn(first), within);
    Value group =
        LLVM::LoadOp::create(builder, loc, VectorType::get(kLineGroup, inMemory), pointer, alignment);
    for (int64_t i = 0; i < kLineGroup; ++i) {
      SmallVector<Index> at(loops[rows ? (first + i) * across : first + i]);
      at[contraction.depthLoop] = {depth, 0, nullptr};
      Value number = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      Value loaded = LLVM::ExtractElementOp::create(builder, loc, group, number);
      evaluator.remember(part.operand->get(), evaluator.apply(op.getMatchingIndexingMap(part.operand), at),
                         memoryAccess.fromMemory(loaded, element));
    }
  }
}

// One step of the depth.
FailureOr<SmallVector<Value>> ContractionEmitter::addProducts(ArrayRef<SmallVector<Index>> loops,
                                                              ValueRange sums, Value depth, Value within,
                                                              Value stage) {
  Scope scope(*this);
  for (const Staged &part : staged)
    loadLines(part, loops, depth, within, stage);
  SmallVector<Value> next;
  for (auto [number, sum] : llvm::enumerate(sums)) {
    SmallVector<Index> at(loops[number]);
    at[contraction.depthLoop] = {depth, 0, nullptr};
    auto values = evaluator.applyBody(contraction.op, at, sum);
    if (failed(values))
      return failure();
    next.push_back(values->front());
  }
  return next;
}

// Whether every piece is as deep as the tile's.
bool ContractionEmitter::hasWholePieces() {
  linalg::GenericOp op = contraction.op;
  int64_t depth = op.getStaticLoopRanges()[contraction.depthLoop];
  OrderAttr order = kernel.getOrderAttr();
  return !ShapedType::isDynamic(depth) && depth % tile.depth == 0 &&
         (!order || order.getLength() % tile.depth == 0);
}

// Whole pieces have no branch between their steps, so that the operands of one are read during another.
FailureOr<SmallVector<Value>> ContractionEmitter::sumPiece(ArrayRef<SmallVector<Index>> loops,
                                                           ValueRange sums, Value depth, Value count,
                                                           Value stage) {
  auto whole = [&]() -> FailureOr<SmallVector<Value>> {
    FailureOr<SmallVector<Value>> next = SmallVector<Value>(sums);
    for (int64_t step = 0; step < tile.depth && succeeded(next); ++step) {
      Value within = indexConstant(step);
      next =
          addProducts(loops, SmallVector<Value>(*next), binary<arith::AddIOp>(depth, within), within, stage);
    }
    return next;
  };
  if (hasWholePieces())
    return whole();
  auto branch = scf::IfOp::create(builder, loc, sums.getTypes(), isEqual(count, tile.depth), true);
  OpBuilder::InsertionGuard guard(builder);
  auto emitInto = [&](Block *block, function_ref<FailureOr<SmallVector<Value>>()> code) -> LogicalResult {
    builder.setInsertionPointToStart(block);
    Scope scope(*this);
    FailureOr<SmallVector<Value>> next = code();
    if (failed(next))
      return failure();
    scf::YieldOp::create(builder, loc, *next);
    return success();
  };
  if (failed(emitInto(branch.thenBlock(), whole)) ||
      failed(emitInto(branch.elseBlock(), [&] { return sumRest(loops, sums, depth, count, stage); })))
    return failure();
  return SmallVector<Value>(branch.getResults());
}

FailureOr<SmallVector<Value>> ContractionEmitter::sumRest(ArrayRef<SmallVector<Index>> loops, ValueRange sums,
                                                          Value depth, Value count, Value stage) {
  auto steps = scf::ForOp::create(builder, loc, indexConstant(0), count, indexConstant(1), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(steps.getBody());
  Value within = steps.getInductionVar();
  auto next =
      addProducts(loops, steps.getRegionIterArgs(), binary<arith::AddIOp>(depth, within), within, stage);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  return SmallVector<Value>(steps.getResults());
}

// The first barrier says that nobody reads what the ring had before; that of a piece, that all threads have
// what they wait for, and that nobody reads the piece whose place the next one takes.
FailureOr<SmallVector<Value>> ContractionEmitter::sumPieces(const Place &place,
                                                            ArrayRef<SmallVector<Index>> loops,
                                                            ArrayRef<Value> start, Value lower, Value upper) {
  Value size = binary<arith::SubIOp>(upper, lower), pieces = divideUp(size, tile.depth);
  auto bring = [&](Value piece) {
    Value depth = binary<arith::AddIOp>(lower, binary<arith::MulIOp>(piece, indexConstant(tile.depth)));
    return bringPiece(place, depth, binary<arith::RemUIOp>(piece, indexConstant(tile.stages)));
  };
  mapping.synchronizeBlock();
  for (int64_t piece = 0; piece + 1 < tile.stages; ++piece) {
    Value number = indexConstant(piece);
    if (failed(emitWhen(isBelow(number, pieces), [&] { return bring(number); })))
      return failure();
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  }
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), pieces, indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  Value piece = loop.getInductionVar(), next = binary<arith::AddIOp>(piece, indexConstant(tile.stages - 1));
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, tile.stages - 2);
  mapping.synchronizeBlock();
  if (failed(emitIf(isBelow(next, pieces), [&] { return bring(next); })))
    return failure();
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  Value before = binary<arith::MulIOp>(piece, indexConstant(tile.depth));
  Value count = binary<arith::MinUIOp>(indexConstant(tile.depth), binary<arith::SubIOp>(size, before));
  auto sums = sumPiece(loops, loop.getRegionIterArgs(), binary<arith::AddIOp>(lower, before), count,
                       binary<arith::RemUIOp>(piece, indexConstant(tile.stages)));
  if (failed(sums))
    return failure();
  scf::YieldOp::create(builder, loc, *sums);
  return SmallVector<Value>(loop.getResults());
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
      FailureOr<Value> identity = evaluator.evaluateOne(op.getDpsInits()[0], positionAt(place, row, column));
      if (failed(identity))
        return failure();
      start.push_back(*identity);
    }
  auto block = [&](Value lower, Value upper) { return sumPieces(place, loops, start, lower, upper); };
  OrderAttr order = kernel.getOrderAttr();
  Operation *join = combiningOp(op);
  auto sums = order ? reductions.pairwiseTree(depthCount, order.getLength(), start, join, block)
                    : block(indexConstant(0), depthCount);
  if (failed(sums))
    return failure();
  return storeSums(place, *sums, down, across);
}

// As many rows as fit into shared memory after the other, by chunks. Of a group of rows only some may fit;
// they then lie beside those of the next thread.
LogicalResult ContractionEmitter::storeSums(const Place &place, ValueRange sums, int64_t down,
                                            int64_t across) {
  int64_t together = rowsTogether / kThreadsDown, inChunk = kChunkBytes / memoryBytes(sumType());
  inChunk = std::min(inChunk, kLineGroup);
  auto rowInShared = [&](int64_t number) {
    if (together >= kLineGroup)
      return threadRow(number);
    Value group = binary<arith::DivUIOp>(threadRow(0), indexConstant(kLineGroup));
    return binary<arith::AddIOp>(binary<arith::MulIOp>(group, indexConstant(together)),
                                 indexConstant(number));
  };
  for (int64_t first = 0; first < down; first += together) {
    Sums inShared = sumsOfBlock(first / kLineGroup * kLineGroup * kThreadsDown + first % kLineGroup,
                                together * kThreadsDown);
    inShared.groupRows = std::min(together, kLineGroup);
    inShared.groupDistance = kLineGroup;
    mapping.synchronizeBlock();
    for (int64_t i = 0; i < together; ++i)
      for (int64_t j = 0; j < across; j += inChunk)
        storeNeighbours(inShared, rowInShared(i), threadColumn(j),
                        sums.slice((first + i) * across + j, inChunk));
    mapping.synchronizeBlock();
    if (failed(emitResults(place, inShared)))
      return failure();
  }
  return success();
}
