// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains that are contiguous in memory: squares of steps and blocks in shared memory.

#include "ScanTiles.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Rows of a square, some of whose elements are not there, that a thread loads at once.
static constexpr int64_t kRowsOfPart = 8;

// A warp has 32 blocks at a time, in squares of 32 steps. Threads after the last block repeat it.
LogicalResult ScanTiles::emitRows(const Tile &tile, Pass pass) {
  Value warp = binary<arith::SubIOp>(mapping.threadInBlock, mapping.lane);
  Value last = binary<arith::SubIOp>(tile.count, indexConstant(1));
  return emitLoop(warp, tile.count, mapping.blockThreads, [&](Value first) -> LogicalResult {
    Value number = binary<arith::MinUIOp>(binary<arith::AddIOp>(first, mapping.lane), last);
    FailureOr<Value> start = startOf(blockAt(tile, number));
    if (failed(start))
      return failure();
    Value carry = pass == Pass::results && hasCarries() ? loadTotal(number) : Value();
    auto loop = scf::ForOp::create(builder, loc, indexConstant(0),
                                   binary<arith::MinUIOp>(length, indexConstant(scan.block)),
                                   indexConstant(kStepsOfSquare), *start);
    {
      OpBuilder::InsertionGuard inside(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Scope scope(*this);
      FailureOr<Value> next =
          emitSquare(tile, pass, first, loop.getInductionVar(), carry, loop.getRegionIterArg(0));
      if (failed(next))
        return failure();
      scf::YieldOp::create(builder, loc, *next);
    }
    if (pass == Pass::results)
      return success();
    Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                            binary<arith::AddIOp>(first, mapping.lane), tile.count);
    return emitIf(isPresent, [&] {
      storeTotal(number, loop.getResult(0));
      return success();
    });
  });
}

FailureOr<Value> ScanTiles::emitSquare(const Tile &tile, Pass pass, Value first, Value step, Value carry,
                                       Value accumulator) {
  mapping.synchronizeWarp(); // all threads have read the square before
  if (failed(loadSquare(tile, first, step)))
    return failure();
  mapping.synchronizeWarp();
  Type element = accumulator.getType(), memory = memoryType(element);
  SmallVector<Value> values;
  for (int64_t i = 0; i < kStepsOfSquare; ++i) {
    Value address = addressInSquare(mapping.lane, indexConstant(i));
    values.push_back(
        fromMemory(LLVM::LoadOp::create(builder, loc, memory, address, memoryBytes(memory)), element));
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    Value next = combine(accumulator, value);
    if (pass == Pass::results) {
      Value kept = toMemory(scans.join(scan.op, carry, scan.readsBefore ? accumulator : next));
      LLVM::StoreOp::create(builder, loc, kept, addressInSquare(mapping.lane, indexConstant(i)),
                            memoryBytes(memory));
    }
    accumulator = next;
  }
  if (pass == Pass::results) {
    mapping.synchronizeWarp();
    if (failed(storeSquare(tile, first, step)))
      return failure();
  }
  return accumulator;
}

static bool isMultiple(Value number, int64_t of) {
  std::optional<int64_t> known = constantOf(number);
  return known && *known % of == 0;
}

// Whether the square has 32 blocks and 32 steps of each. Null: all have.
Value ScanTiles::isWhole(const Tile &tile, Value first, Value step) {
  bool allBlocks = isMultiple(tile.count, kStepsOfSquare), allSteps = isMultiple(length, scan.block);
  if (allBlocks && allSteps)
    return nullptr;
  Value last = binary<arith::AddIOp>(first, indexConstant(kStepsOfSquare - 1));
  Value hasBlocks = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, last, tile.count);
  Value shortest;
  if (constantOf(tile.chains) == 1) {
    Block block = blockAt(tile, first, kStepsOfSquare - 1);
    shortest = binary<arith::SubIOp>(upperOf(block), lowerOf(block));
  } else { // the last block of the tile
    Value block = binary<arith::AddIOp>(binary<arith::MulIOp>(tile.number, indexConstant(scan.blocksOfTile)),
                                        binary<arith::SubIOp>(tile.blocks, indexConstant(1)));
    shortest = binary<arith::MinUIOp>(
        binary<arith::SubIOp>(length, binary<arith::MulIOp>(block, indexConstant(scan.block))),
        indexConstant(scan.block));
  }
  Value end = binary<arith::AddIOp>(step, indexConstant(kStepsOfSquare));
  Value hasSteps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, end, shortest);
  return binary<arith::AndIOp>(hasBlocks, hasSteps);
}

// Without a branch: instead of an element that is not there, the thread loads the last one of the block, or
// of the last block. The neutral element in its place changes no total.
FailureOr<Value> ScanTiles::loadPresent(const Tile &tile, Value number, Value step) {
  Value last = binary<arith::SubIOp>(tile.count, indexConstant(1));
  Block block = blockAt(tile, binary<arith::MinUIOp>(number, last));
  Value at = binary<arith::AddIOp>(lowerOf(block), step), upper = upperOf(block);
  Value isPresent = binary<arith::AndIOp>(
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, tile.count),
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, upper));
  at = binary<arith::MinUIOp>(at, binary<arith::SubIOp>(upper, indexConstant(1)));
  FailureOr<Value> value = valueAt(loopsOf(block.chain, at));
  if (failed(value))
    return failure();
  Value chosen =
      arith::SelectOp::create(builder, loc, isPresent, toMemory(*value), toMemory(scans.neutralOf(scan.op)));
  return fromMemory(chosen, value->getType());
}

// Lane l loads step l of the blocks `first` to `first + count`, all of them before it stores the first one.
LogicalResult ScanTiles::loadBlocks(const Tile &tile, Value first, Value row, int64_t count, Value own,
                                    bool whole) {
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) {
    FailureOr<Value> value;
    if (whole) {
      Block block = blockAt(tile, first, i);
      value = valueAt(loopsOf(block.chain, stepOf(block, own)));
    } else {
      Value number = binary<arith::AddIOp>(binary<arith::AddIOp>(first, row), indexConstant(i));
      value = loadPresent(tile, number, own);
    }
    if (failed(value))
      return failure();
    values.push_back(toMemory(*value));
  }
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(builder, loc, value,
                          addressInSquare(binary<arith::AddIOp>(row, indexConstant(i)), mapping.lane),
                          memoryBytes(value.getType()));
  return success();
}

// The square at once if it is whole; else in parts, whose numbers and conditions fit into registers.
LogicalResult ScanTiles::overSquare(Value isWhole, function_ref<LogicalResult(Value, int64_t, bool)> code) {
  return emitIfAllowed(
      isWhole, [&] { return code(indexConstant(0), kStepsOfSquare, true); },
      [&] {
        return emitLoop(indexConstant(0), indexConstant(kStepsOfSquare), indexConstant(kRowsOfPart),
                        [&](Value row) { return code(row, kRowsOfPart, false); });
      });
}

LogicalResult ScanTiles::loadSquare(const Tile &tile, Value first, Value step) {
  Value own = binary<arith::AddIOp>(step, mapping.lane);
  return overSquare(isWhole(tile, first, step), [&](Value row, int64_t count, bool whole) {
    return loadBlocks(tile, first, row, count, own, whole);
  });
}

LogicalResult ScanTiles::storeAt(const Block &block, Value at, Value kept) {
  linalg::GenericOp op = scan.op;
  Operation *yield = op.getBlock()->getTerminator();
  SmallVector<Index> loops = loopsOf(block.chain, at);
  IRMapping known;
  known.map(op.getRegionOutputArgs().back(), kept);
  known.map(yield->getOperand(1), kept);
  auto result = evaluator.evaluateBody(op, loops, known, yield->getOperand(0));
  if (failed(result))
    return failure();
  memoryAccess.store(results.front(), maps.apply(stepMapOf(op), loops), result->front());
  return success();
}

LogicalResult ScanTiles::storeBlocks(const Tile &tile, Value first, Value row, int64_t count, Value own,
                                     bool whole) {
  Type element = getElementTypeOrSelf(scan.op->getResult(1)), memory = memoryType(element);
  SmallVector<Value> kept;
  for (int64_t i = 0; i < count; ++i) {
    Value address = addressInSquare(binary<arith::AddIOp>(row, indexConstant(i)), mapping.lane);
    Value value = LLVM::LoadOp::create(builder, loc, memory, address, memoryBytes(memory));
    kept.push_back(fromMemory(value, element));
  }
  for (auto [i, value] : llvm::enumerate(kept)) {
    if (whole) {
      Block block = blockAt(tile, first, i);
      if (failed(storeAt(block, stepOf(block, own), value)))
        return failure();
      continue;
    }
    Value number = binary<arith::AddIOp>(binary<arith::AddIOp>(first, row), indexConstant(i));
    Block block = blockAt(tile, number);
    Value at = stepOf(block, own);
    Value isPresent = binary<arith::AndIOp>(
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, tile.count),
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, upperOf(block)));
    if (failed(emitIf(isPresent, [&, value = value] { return storeAt(block, at, value); })))
      return failure();
  }
  return success();
}

LogicalResult ScanTiles::storeSquare(const Tile &tile, Value first, Value step) {
  Value own = binary<arith::AddIOp>(step, mapping.lane);
  return overSquare(isWhole(tile, first, step), [&](Value row, int64_t count, bool whole) {
    return storeBlocks(tile, first, row, count, own, whole);
  });
}
