// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitParts.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Sums of a thread whose weights it loads at once, at most.
static constexpr int64_t kMostSteps = 64;

SplitParts::SplitParts(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                       const SplitShape &shape)
    : SplitWeights(function, kernel, attention, shape, shape.rows, shape.columns),
      staging(code, SplitShape::kPartThreads), tensorCores(code, attention.element, shape.rows) {}

Value SplitParts::unitCount(AttentionCode &code, const SplitShape &shape, AttentionTiles &tiles,
                            SplitCounts &counts) {
  Value leaves = leafUnits(code, tiles, counts);
  return shape.sumsInLeaves() ? leaves
                              : code.add(leaves, code.binary<arith::MulIOp>(counts.rows, counts.nodes()));
}

void SplitParts::emit() {
  Value ofTiles = leafUnits(code, tiles, counts);
  forEachUnit(unitCount(code, shape, tiles, counts), [&](Value unit) {
    if (shape.sumsInLeaves())
      return emitUnit(unit);
    code.emitIf(code.isBelow(unit, ofTiles), [&] { emitUnit(unit); });
    code.emitIf(code.compare(arith::CmpIPredicate::uge, unit, ofTiles),
                [&] { sumNode(code.sub(unit, ofTiles)); });
  });
}

void SplitParts::emitUnit(Value unit) {
  Value leaves = counts.leaves(), number = code.binary<arith::RemUIOp>(unit, leaves);
  Tile tile = tiles.tileAt(code.binary<arith::DivUIOp>(unit, leaves));
  Part leaf = partAt(number, counts.leavesOfChunk, SplitShape::kLeaf);
  code.emitIf(both(leaf.isThere, code.isBelow(tile.firstRow, tile.rows)),
              [&] { emitLeaf(tile, leaf, number); });
}

//===- Products -----------------------------------------------------------===//

void SplitParts::stageValues(const Tile &tile, const Part &leaf, Value step) {
  Value first = code.resized(code.binary<arith::MulIOp>(step, SplitShape::kStageKeys), 64);
  Value left = code.sub(leaf.count, code.binary<arith::MinUIOp>(leaf.count, first));
  Value stage = code.binary<arith::RemUIOp>(step, shape.stages());
  staging.copy({memory.value, attention.width, SplitShape::kStageKeys, shape.columns, shape.valuePitch()},
               code.binary<arith::MulIOp>(stage, shape.stageBytes()),
               tiles.numberOfKey(tile, code.add(leaf.firstKey, first)), left, tile.firstColumn);
}

int64_t SplitParts::sumCount() const {
  return shape.tensorCores ? 4 * shape.columnTilesOfWarp() : shape.rowsOfThread();
}

std::pair<Value, Value> SplitParts::placeOf(int64_t number) {
  if (!shape.tensorCores) {
    Value group = code.binary<arith::DivUIOp>(code.thread, shape.columns);
    return {code.add(group, number * shape.rowGroups()),
            code.binary<arith::RemUIOp>(code.thread, shape.columns)};
  }
  Value tile = code.add(code.binary<arith::MulIOp>(warp(), shape.columnTilesOfWarp()), number / 4);
  Value column = code.add(code.binary<arith::MulIOp>(tile, SplitShape::kN), tensorCores.columnOfThread());
  return {tensorCores.rowOfThread(number % 4 / 2), code.add(column, number % 2)};
}

Value SplitParts::hasSums() {
  auto [row, column] = placeOf(0);
  return shape.tensorCores ? code.isBelow(column, code.i32(shape.columns))
                           : code.isBelow(row, code.i32(shape.rows));
}

SmallVector<Value> SplitParts::addStage(Value byte, Value key, ValueRange sums) {
  int64_t steps =
      std::clamp<int64_t>(kMostSteps / shape.rowsOfThread(), SplitShape::kVector, SplitShape::kStageKeys);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < sumCount(); ++i) {
    Value row = code.binary<arith::MinUIOp>(placeOf(i).first, code.i32(shape.rows - 1));
    rows.push_back(code.add(code.binary<arith::MulIOp>(row, shape.weightStride()), key));
  }
  Value column = code.add(byte, code.binary<arith::MulIOp>(placeOf(0).second, shape.elementBytes));
  return code.loop(
      code.i32(0), code.i32(SplitShape::kStageKeys), code.i32(llvm::bit_floor<uint64_t>(steps)), sums,
      [&](Value first, ValueRange before) {
        auto together = static_cast<int64_t>(llvm::bit_floor<uint64_t>(steps));
        Value start = code.add(column, code.binary<arith::MulIOp>(first, shape.valuePitch()));
        SmallVector<Value> values, next(before);
        for (int64_t k = 0; k < together; ++k)
          values.push_back(staging.load(attention.element, code.add(start, k * shape.valuePitch()), 1)[0]);
        for (int64_t k = 0; k < together; k += SplitShape::kVector)
          for (auto [row, sum] : llvm::zip_equal(rows, next)) {
            SmallVector<Value> weights = code.loadVector(
                code.shared(shape.weights()), code.add(row, code.add(first, k)), SplitShape::kVector);
            for (int64_t i = 0; i < SplitShape::kVector; ++i)
              sum = code.fma(weights[i], values[k + i], sum);
          }
        return next;
      });
}

SmallVector<Value> SplitParts::addStageOnTensorCores(Value byte, Value key, ValueRange sums) {
  SmallVector<Value> next(sums);
  Value firstTile = code.binary<arith::MulIOp>(warp(), shape.columnTilesOfWarp());
  for (int64_t k = 0; k < SplitShape::kStageKeys; k += SplitShape::kK) {
    SmallVector<Value> rows = tensorCores.rowsAt(shape.weights(), shape.weightStride(), code.add(key, k));
    for (int64_t tile = 0; tile < shape.columnTilesOfWarp(); ++tile) {
      Value column = code.binary<arith::MulIOp>(code.add(firstTile, tile), SplitShape::kN * 2);
      Value start = code.add(byte, code.add(column, k * shape.valuePitch()));
      SmallVector<Value> columns = tensorCores.transposedAt(start, shape.valuePitch());
      Fragment sums;
      MutableArrayRef<Value> own = MutableArrayRef(next).slice(4 * tile, 4);
      llvm::copy(own, sums.begin());
      llvm::copy(tensorCores.multiply(rows, columns, sums), own.begin());
    }
  }
  return next;
}

// All stages but one are on their way while the last one is multiplied.
void SplitParts::emitLeaf(const Tile &tile, const Part &leaf, Value number) {
  Value steps =
      code.binary<arith::CeilDivUIOp>(code.resized(leaf.count, 32), code.i32(SplitShape::kStageKeys));
  code.synchronize();
  copyScores(tile, leaf);
  staging.commit();
  auto stage = [&](Value step) {
    code.emitIf(code.isBelow(step, steps), [&] { stageValues(tile, leaf, step); });
    staging.commit();
  };
  for (int64_t step = 0; step + 1 < shape.stages(); ++step)
    stage(code.i32(step));
  writeMaxima(tile, leaf.chunk);
  staging.wait(shape.stages() - 1);
  writeWeights(leaf);
  if (shape.sumsInLeaves()) {
    code.synchronize();
    code.emitIf(isFirst(tile.firstColumn), [&] { sumLeaf(tile, leaf, number); });
    roundWeights();
  }
  SmallVector<Value> zeros(sumCount(), code.real(0));
  SmallVector<Value> sums = code.loop(code.i32(0), steps, code.i32(1), zeros, [&](Value step, ValueRange so) {
    staging.wait(shape.stages() - 2);
    stage(code.add(step, shape.stages() - 1));
    Value place = code.binary<arith::RemUIOp>(step, shape.stages());
    Value byte = code.binary<arith::MulIOp>(place, shape.stageBytes());
    Value key = code.binary<arith::MulIOp>(step, SplitShape::kStageKeys);
    return code.changeIf(hasSums(), so, [&] {
      return shape.tensorCores ? addStageOnTensorCores(byte, key, so) : addStage(byte, key, so);
    });
  });
  for (auto [i, sum] : llvm::enumerate(sums)) {
    auto [row, inTile] = placeOf(static_cast<int64_t>(i));
    Value column = code.add(tile.firstColumn, code.resized(inTile, 64));
    Value isRow = both(code.isBelow(row, code.i32(shape.rows)), tiles.isThere(tile, row));
    code.emitIf(both(both(hasSums(), isRow), code.isBelow(column, code.i64(attention.width))),
                [&] { store(code.add(counts.product(counts.rowNumber(tile, row), number), column), sum); });
  }
}
