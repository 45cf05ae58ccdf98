// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SimtProducts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Threads of a warp along N at most: a warp then reads few elements of A, and contiguous ones of B.
static constexpr int64_t kMaxWarpThreadsN = 8;

// The part of a thread is as square as possible, since it reads its sides, and consists of vectors.
int64_t SimtProducts::threadsM() const {
  int64_t elements = tile.m * tile.n / tile.threads, rows = kSimtVector;
  while (4 * rows * rows <= elements)
    rows *= 2;
  return tile.m / rows;
}

int64_t SimtProducts::threadsN() const { return tile.threads / threadsM(); }

int64_t SimtProducts::warpThreadsN() const { return std::min(kMaxWarpThreadsN, threadsN()); }

// A thread has vectors of consecutive elements. Between two of them are the vectors of all other threads.
Value SimtProducts::elementOf(Value thread, int64_t threads, int64_t number) {
  int64_t first = number / kSimtVector * threads * kSimtVector + number % kSimtVector;
  return binary<arith::AddIOp>(binary<arith::MulIOp>(thread, indexConstant(kSimtVector)),
                               indexConstant(first));
}

Value SimtProducts::rowOf(int64_t number) {
  int64_t warpsN = threadsN() / warpThreadsN(), inWarp = kWarpThreads / warpThreadsN();
  Value warpM = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads * warpsN));
  Value laneM = binary<arith::DivUIOp>(mapping.lane, indexConstant(warpThreadsN()));
  Value threadM = binary<arith::AddIOp>(binary<arith::MulIOp>(warpM, indexConstant(inWarp)), laneM);
  return elementOf(threadM, threadsM(), number);
}

Value SimtProducts::columnOf(int64_t number) {
  Value warpInBlock = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads));
  Value warpN = binary<arith::RemUIOp>(warpInBlock, indexConstant(threadsN() / warpThreadsN()));
  Value laneN = binary<arith::RemUIOp>(mapping.lane, indexConstant(warpThreadsN()));
  Value threadN = binary<arith::AddIOp>(binary<arith::MulIOp>(warpN, indexConstant(warpThreadsN())), laneN);
  return elementOf(threadN, threadsN(), number);
}

// Loads the thread's elements of an operand at one step of K, a vector at a time. The evaluator then finds
// them as the operand's values.
void SimtProducts::loadOperand(const StagedOperand &part, Loops loops, Value k, Value step, Value stage) {
  linalg::GenericOp op = contraction.op;
  int64_t columns = tile.n / threadsN(), count = part.isA ? tile.m / threadsM() : columns;
  Type element = getElementTypeOrSelf(part.operand->get().getType()), inMemory = memoryType(element);
  int64_t alignment = std::min(kChunkBytes, kSimtVector * part.elementBytes());
  for (int64_t first = 0; first < count; first += kSimtVector) {
    Value pointer = padded.pointerAt(part, stage, part.isA ? rowOf(first) : columnOf(first), step);
    Value vector =
        LLVM::LoadOp::create(builder, loc, VectorType::get(kSimtVector, inMemory), pointer, alignment);
    for (int64_t i = 0; i < kSimtVector; ++i) {
      SmallVector<Index> at(loops[part.isA ? (first + i) * columns : first + i]);
      at[contraction.kLoop] = {k, 0, nullptr};
      Value number = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      Value loaded = LLVM::ExtractElementOp::create(builder, loc, vector, number);
      remember(part.operand->get(), maps.apply(op.getMatchingIndexingMap(part.operand), at),
               fromMemory(loaded, element));
    }
  }
}

FailureOr<SmallVector<Value>> SimtProducts::sumStep(Loops loops, ValueRange accumulators, Value k, Value step,
                                                    Value stage) {
  Scope scope(context);
  for (const StagedOperand &part : staging.operands)
    loadOperand(part, loops, k, step, stage);
  SmallVector<Value> next;
  for (auto [number, accumulator] : llvm::enumerate(accumulators)) {
    SmallVector<Index> at(loops[number]);
    at[contraction.kLoop] = {k, 0, nullptr};
    auto values = evaluator.applyBody(contraction.op, at, accumulator);
    if (failed(values))
      return failure();
    next.push_back(values->front());
  }
  return next;
}

// A whole K tile has no branch between its steps, so that the compiler can load operands of one step during
// another.
FailureOr<SmallVector<Value>> SimtProducts::sumKTile(Loops loops, ValueRange accumulators, Value k,
                                                     Value steps, Value stage) {
  auto whole = [&]() -> FailureOr<SmallVector<Value>> {
    FailureOr<SmallVector<Value>> next = SmallVector<Value>(accumulators);
    for (int64_t number = 0; number < tile.k && succeeded(next); ++number) {
      Value step = indexConstant(number);
      next = sumStep(loops, SmallVector<Value>(*next), binary<arith::AddIOp>(k, step), step, stage);
    }
    return next;
  };
  if (tileMapping.hasWholeKTiles())
    return whole();
  auto branch = scf::IfOp::create(builder, loc, accumulators.getTypes(), isEqual(steps, tile.k), true);
  OpBuilder::InsertionGuard guard(builder);
  auto emitInto = [&](Block *block, function_ref<FailureOr<SmallVector<Value>>()> code) -> LogicalResult {
    builder.setInsertionPointToStart(block);
    Scope scope(context);
    FailureOr<SmallVector<Value>> next = code();
    if (failed(next))
      return failure();
    scf::YieldOp::create(builder, loc, *next);
    return success();
  };
  auto partial = [&] { return sumPartialKTile(loops, accumulators, k, steps, stage); };
  if (failed(emitInto(branch.thenBlock(), whole)) || failed(emitInto(branch.elseBlock(), partial)))
    return failure();
  return SmallVector<Value>(branch.getResults());
}

FailureOr<SmallVector<Value>> SimtProducts::sumPartialKTile(Loops loops, ValueRange accumulators, Value k,
                                                            Value steps, Value stage) {
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), steps, indexConstant(1), accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  auto next = sumStep(loops, loop.getRegionIterArgs(), binary<arith::AddIOp>(k, step), step, stage);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  return SmallVector<Value>(loop.getResults());
}

// The chains over [lower, upper) of the tile's part of K. The first barrier waits until no thread reads the
// stages any more.
FailureOr<SmallVector<Value>> SimtProducts::sumRange(const TileOrigin &origin, Loops loops,
                                                     ArrayRef<Value> start, Value lower, Value upper) {
  Value size = binary<arith::SubIOp>(upper, lower), kTiles = divideUp(size, tile.k);
  Value begin = binary<arith::AddIOp>(origin.beginK, lower);
  auto load = [&](Value kTile) {
    Value k = binary<arith::AddIOp>(begin, binary<arith::MulIOp>(kTile, indexConstant(tile.k)));
    return padded.loadKTile(origin, k, binary<arith::RemUIOp>(kTile, indexConstant(tile.stages)));
  };
  auto multiply = [&](Value kTile, ValueRange accumulators) {
    Value before = binary<arith::MulIOp>(kTile, indexConstant(tile.k));
    Value steps = binary<arith::MinUIOp>(indexConstant(tile.k), binary<arith::SubIOp>(size, before));
    return sumKTile(loops, accumulators, binary<arith::AddIOp>(begin, before), steps,
                    binary<arith::RemUIOp>(kTile, indexConstant(tile.stages)));
  };
  mapping.synchronizeBlock();
  if (failed(pipeline.emitPrologue(kTiles, load)))
    return failure();
  return pipeline.emitMainLoop(kTiles, start, load, multiply);
}

LogicalResult SimtProducts::emit(const TileOrigin &origin) {
  linalg::GenericOp op = contraction.op;
  // One value for each row and column: the evaluator recognizes elements by them.
  SmallVector<Value> rows, columns;
  for (int64_t i = 0; i < tile.m / threadsM(); ++i)
    rows.push_back(binary<arith::AddIOp>(origin.m, rowOf(i)));
  for (int64_t j = 0; j < tile.n / threadsN(); ++j)
    columns.push_back(binary<arith::AddIOp>(origin.n, columnOf(j)));
  SmallVector<SmallVector<Index>> loops;
  SmallVector<Value> start;
  for (Value row : rows)
    for (Value column : columns) {
      loops.push_back(tileMapping.loopsAt(origin, row, column, indexConstant(0)));
      FailureOr<Value> identity =
          evaluator.evaluateOne(op.getDpsInits()[0], tileMapping.positionAt(origin, row, column));
      if (failed(identity))
        return failure();
      start.push_back(*identity);
    }
  // A number of K tiles that the compiler knows makes it keep an address for each copy of the pipeline.
  auto block = [&](Value lower, Value upper) {
    bool isKnown = matchPattern(lower, m_Constant());
    return sumRange(origin, loops, start, isKnown ? hiddenCopy(lower) : lower, upper);
  };
  OrderAttr order = kernel.getOrderAttr();
  Operation *join = combiningOp(op);
  Value length = binary<arith::SubIOp>(origin.endK, origin.beginK);
  auto sums = order ? tree.joinBlocks(length, order.getPartLength(), start, join, block)
                    : block(indexConstant(0), length);
  if (failed(sums))
    return failure();
  TileOrigin own = tileMapping.originOf(hiddenCopy(origin.number));
  return emitEpilogue(own, *sums);
}

// Each pass stores as many rows of every thread as fit into shared memory. If fewer rows fit than a vector
// has, the rows of the next thread follow them.
LogicalResult SimtProducts::emitEpilogue(const TileOrigin &origin, ValueRange accumulators) {
  Epilogue::OwnThread thread(epilogue);
  int64_t rows = tile.m / threadsM(), columns = tile.n / threadsN();
  int64_t rowsPerPass = epilogue.rowsPerPass() / threadsM();
  int64_t inChunk = std::min(kChunkBytes / memoryBytes(accumulatorType()), kSimtVector);
  auto rowInShared = [&](int64_t number) {
    if (rowsPerPass >= kSimtVector)
      return rowOf(number);
    Value vector = binary<arith::DivUIOp>(rowOf(0), indexConstant(kSimtVector));
    return binary<arith::AddIOp>(binary<arith::MulIOp>(vector, indexConstant(rowsPerPass)),
                                 indexConstant(number));
  };
  for (int64_t first = 0; first < rows; first += rowsPerPass) {
    StagedAccumulators staged = epilogue.stagedByBlock(
        first / kSimtVector * kSimtVector * threadsM() + first % kSimtVector, rowsPerPass * threadsM());
    staged.groupRows = std::min(rowsPerPass, kSimtVector);
    staged.groupStride = kSimtVector;
    mapping.synchronizeBlock();
    for (int64_t i = 0; i < rowsPerPass; ++i)
      for (int64_t j = 0; j < columns; j += inChunk)
        epilogue.stage(staged, rowInShared(i), columnOf(j),
                       accumulators.slice((first + i) * columns + j, inChunk));
    mapping.synchronizeBlock();
    if (failed(epilogue.emit(origin, staged)))
      return failure();
  }
  return success();
}
