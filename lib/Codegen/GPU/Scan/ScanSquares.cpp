// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains that are contiguous in memory, or alternate in it: squares of steps and blocks in shared memory.

#include "ScanTiles.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Rows of a square, some of whose elements are not there, that a thread loads at once.
static constexpr int64_t kRowsOfPart = 8;

// A warp has as many blocks of bundles at a time as its threads have chains of, in squares of 32 steps. After
// the last block its threads repeat that one.
LogicalResult ScanTiles::emitSquares(const Tile &tile, Pass pass) {
  Value warp = binary<arith::SubIOp>(mapping.threadInBlock, mapping.lane);
  auto runsOf = [&](Value threads) {
    return binary<arith::MulIOp>(binary<arith::DivUIOp>(threads, indexConstant(kWarpThreads)),
                                 indexConstant(scan.runsOfSquare()));
  };
  Value last = binary<arith::SubIOp>(tile.count, indexConstant(1));
  return emitLoop(runsOf(warp), tile.count, runsOf(mapping.blockThreads), [&](Value first) -> LogicalResult {
    Value number = binary<arith::MinUIOp>(binary<arith::AddIOp>(first, run), last);
    Block block = blockAt(tile, number);
    FailureOr<Value> start = startOf(block, column);
    if (failed(start))
      return failure();
    Value ofChain = column ? binary<arith::AddIOp>(chainsOf(number), column) : number;
    Value carry = pass == Pass::results && hasCarries() ? loadTotal(totals, ofChain) : Value();
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
                                            binary<arith::AddIOp>(first, run), tile.count);
    if (Value isActive = hasRun())
      isPresent = binary<arith::AndIOp>(isPresent, isActive);
    return emitIf(isPresent, [&] {
      keepTotal(block, column, ofChain, loop.getResult(0));
      return success();
    });
  });
}

// Whether the square has a chain for the thread. Null: for each thread.
Value ScanTiles::hasRun() {
  int64_t chains = scan.runsOfSquare() * scan.columns;
  return chains == kWarpThreads ? Value()
                                : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, mapping.lane,
                                                        indexConstant(chains))
                                      .getResult();
}

FailureOr<Value> ScanTiles::emitSquare(const Tile &tile, Pass pass, Value first, Value step, Value carry,
                                       Value accumulator) {
  mapping.synchronizeWarp(); // all threads have read the square before
  if (failed(loadSquare(tile, first, step)))
    return failure();
  mapping.synchronizeWarp();
  if (Value isActive = hasRun()) {
    auto branch = scf::IfOp::create(builder, loc, accumulator.getType(), isActive, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, accumulator);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, scanSquare(pass, carry, accumulator));
    accumulator = branch.getResult(0);
  } else {
    accumulator = scanSquare(pass, carry, accumulator);
  }
  if (pass == Pass::results) {
    mapping.synchronizeWarp();
    if (failed(storeSquare(tile, first, step)))
      return failure();
  }
  return accumulator;
}

// The thread's steps of a square, of which all are loaded before it combines the first one.
Value ScanTiles::scanSquare(Pass pass, Value carry, Value accumulator) {
  Type element = accumulator.getType(), memory = memoryType(element);
  auto addressOfStep = [&](int64_t step) {
    Value own = indexConstant(step * scan.columns);
    return addressInSquare(run, column ? binary<arith::AddIOp>(column, own) : own);
  };
  SmallVector<Value> values;
  for (int64_t i = 0; i < kStepsOfSquare; ++i)
    values.push_back(fromMemory(
        LLVM::LoadOp::create(builder, loc, memory, addressOfStep(i), memoryBytes(memory)), element));
  for (auto [i, value] : llvm::enumerate(values)) {
    Value next = combine(accumulator, value);
    if (pass == Pass::results) {
      Value kept = toMemory(scans.join(scan.op, carry, scan.readsBefore ? accumulator : next));
      LLVM::StoreOp::create(builder, loc, kept, addressOfStep(i), memoryBytes(memory));
    }
    accumulator = next;
  }
  return accumulator;
}

static bool isMultiple(Value number, int64_t of) {
  std::optional<int64_t> known = constantOf(number);
  return known && *known % of == 0;
}

// Whether the square has all its blocks and 32 steps of each. Null: all have.
Value ScanTiles::isWhole(const Tile &tile, Value first, Value step) {
  bool allBlocks = isMultiple(tile.count, scan.runsOfSquare()), allSteps = isMultiple(length, scan.block);
  if (allBlocks && allSteps)
    return nullptr;
  int64_t last = scan.runsOfSquare() - 1;
  Value hasBlocks = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                          binary<arith::AddIOp>(first, indexConstant(last)), tile.count);
  Value shortest;
  if (constantOf(tile.bundles) == 1) {
    Block block = blockAt(tile, first, last);
    shortest = binary<arith::SubIOp>(upperOf(block), lowerOf(block));
  } else { // the last block of the tile
    Value block =
        binary<arith::AddIOp>(firstBlockOf(tile), binary<arith::SubIOp>(tile.blocks, indexConstant(1)));
    shortest = binary<arith::MinUIOp>(
        binary<arith::SubIOp>(length, binary<arith::MulIOp>(block, indexConstant(scan.block))),
        indexConstant(scan.block));
  }
  Value end = binary<arith::AddIOp>(step, indexConstant(kStepsOfSquare));
  Value hasSteps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, end, shortest);
  return binary<arith::AndIOp>(hasBlocks, hasSteps);
}

// A row of a square is 32 adjacent elements of memory: steps of a chain, or of all chains of a bundle. The
// thread moves one of them.
ScanTiles::Moved ScanTiles::movedAt(Value row) {
  if (scan.columns == 1)
    return {row, mapping.lane, mapping.lane, nullptr};
  auto [run, part] = inBundle(row);
  Value element =
      binary<arith::AddIOp>(binary<arith::MulIOp>(part, indexConstant(kWarpThreads)), mapping.lane);
  if (kWarpThreads % scan.columns != 0) {
    auto [step, column] = inBundle(element);
    return {run, element, step, column};
  }
  Value before = binary<arith::MulIOp>(part, indexConstant(kWarpThreads / scan.columns));
  return {run, element, binary<arith::AddIOp>(before, this->run), column};
}

// Without a branch: instead of an element that is not there, the thread loads the last one of the block, or
// of the last block. The neutral element in its place changes no total.
FailureOr<Value> ScanTiles::loadPresent(const Tile &tile, Value first, Value step, const Moved &moved) {
  Value number = binary<arith::AddIOp>(first, moved.run);
  Value last = binary<arith::SubIOp>(tile.count, indexConstant(1));
  Block block = blockAt(tile, binary<arith::MinUIOp>(number, last));
  Value at = stepOf(block, binary<arith::AddIOp>(step, moved.step)), upper = upperOf(block);
  Value isPresent = binary<arith::AndIOp>(
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, tile.count),
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, upper));
  at = binary<arith::MinUIOp>(at, binary<arith::SubIOp>(upper, indexConstant(1)));
  FailureOr<Value> value = valueAt(loopsOf(block.bundle, moved.column, at));
  if (failed(value))
    return failure();
  Value chosen =
      arith::SelectOp::create(builder, loc, isPresent, toMemory(*value), toMemory(scans.neutralOf(scan.op)));
  return fromMemory(chosen, value->getType());
}

// All rows are loaded before the first one is stored to the square.
LogicalResult ScanTiles::loadRows(const Tile &tile, Value first, Value step, Value row, int64_t count,
                                  bool whole) {
  SmallVector<Moved> rows;
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) {
    Moved moved = movedAt(binary<arith::AddIOp>(row, indexConstant(i)));
    FailureOr<Value> value;
    if (whole) {
      Block block = blockAt(tile, first, *constantOf(moved.run));
      value = valueAt(
          loopsOf(block.bundle, moved.column, stepOf(block, binary<arith::AddIOp>(step, moved.step))));
    } else {
      value = loadPresent(tile, first, step, moved);
    }
    if (failed(value))
      return failure();
    rows.push_back(moved);
    values.push_back(toMemory(*value));
  }
  for (auto [moved, value] : llvm::zip_equal(rows, values))
    LLVM::StoreOp::create(builder, loc, value, addressInSquare(moved.run, moved.element),
                          memoryBytes(value.getType()));
  return success();
}

// The square at once if it is whole; else in parts, whose numbers and conditions fit into registers.
LogicalResult ScanTiles::overSquare(Value isWhole, function_ref<LogicalResult(Value, int64_t, bool)> code) {
  int64_t rows = scan.runsOfSquare() * scan.columns, rest = rows % kRowsOfPart;
  return emitIfAllowed(
      isWhole, [&] { return code(indexConstant(0), rows, true); },
      [&]() -> LogicalResult {
        if (failed(emitLoop(indexConstant(0), indexConstant(rows - rest), indexConstant(kRowsOfPart),
                            [&](Value row) { return code(row, kRowsOfPart, false); })))
          return failure();
        return rest == 0 ? success() : code(indexConstant(rows - rest), rest, false);
      });
}

LogicalResult ScanTiles::loadSquare(const Tile &tile, Value first, Value step) {
  return overSquare(isWhole(tile, first, step), [&](Value row, int64_t count, bool whole) {
    return loadRows(tile, first, step, row, count, whole);
  });
}

LogicalResult ScanTiles::storeAt(const Block &block, Value column, Value at, Value kept) {
  linalg::GenericOp op = scan.op;
  Operation *yield = op.getBlock()->getTerminator();
  SmallVector<Index> loops = loopsOf(block.bundle, column, at);
  IRMapping known;
  known.map(op.getRegionOutputArgs().back(), kept);
  known.map(yield->getOperand(1), kept);
  auto result = evaluator.evaluateBody(op, loops, known, yield->getOperand(0));
  if (failed(result))
    return failure();
  memoryAccess.store(results.front(), maps.apply(stepMapOf(op), loops), result->front());
  return success();
}

LogicalResult ScanTiles::storeRows(const Tile &tile, Value first, Value step, Value row, int64_t count,
                                   bool whole) {
  Type element = getElementTypeOrSelf(scan.op->getResult(1)), memory = memoryType(element);
  SmallVector<Moved> rows;
  SmallVector<Value> kept;
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(movedAt(binary<arith::AddIOp>(row, indexConstant(i))));
    Value address = addressInSquare(rows.back().run, rows.back().element);
    kept.push_back(
        fromMemory(LLVM::LoadOp::create(builder, loc, memory, address, memoryBytes(memory)), element));
  }
  for (auto [moved, value] : llvm::zip_equal(rows, kept)) {
    Value at = binary<arith::AddIOp>(step, moved.step);
    if (whole) {
      Block block = blockAt(tile, first, *constantOf(moved.run));
      if (failed(storeAt(block, moved.column, stepOf(block, at), value)))
        return failure();
      continue;
    }
    Value number = binary<arith::AddIOp>(first, moved.run);
    Block block = blockAt(tile, number);
    at = stepOf(block, at);
    Value isPresent = binary<arith::AndIOp>(
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, tile.count),
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, upperOf(block)));
    if (failed(emitIf(isPresent, [&, column = moved.column, value = value] {
          return storeAt(block, column, at, value);
        })))
      return failure();
  }
  return success();
}

LogicalResult ScanTiles::storeSquare(const Tile &tile, Value first, Value step) {
  return overSquare(isWhole(tile, first, step), [&](Value row, int64_t count, bool whole) {
    return storeRows(tile, first, step, row, count, whole);
  });
}
