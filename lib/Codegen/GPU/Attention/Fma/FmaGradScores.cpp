// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaGradScores.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FmaGradScores::FmaGradScores(AttentionCode &code, const AttentionShape &shape, const FmaGradShape &layout,
                             AttentionMemory &memory, AttentionTiles &tiles)
    : code(code), shape(shape), layout(layout), memory(memory), tiles(tiles), function(code, shape, memory),
      table(code, layout, memory, tiles, layout.rowTable()),
      ofQueries(code, layout, memory, shape.depth, layout.stagedRows(), layout.stagedKeys()),
      ofCotangents(code, layout, memory, shape.width, layout.stagedRows(), layout.stagedKeys()) {}

// Where no key counts, each score is -inf and each weight 0.
void FmaGradScores::writeRows(const Tile &tile) {
  table.write(tile);
  code.forEach(layout.rows(), FmaGrid::kThreads, [&](Value row) {
    Value number = tiles.rowOf(tile, row).number;
    code.store(code.shared(layout.logSums()), row, code.orZero(memory.loadWide(memory.logSum, number)));
    code.store(code.shared(layout.deltas()), row, memory.loadWide(memory.delta, number));
  });
}

Value FmaGradScores::rowOf(int64_t number) {
  Value threadRow = code.binary<arith::DivUIOp>(code.thread, FmaGrid::kSide);
  return code.add(code.binary<arith::MulIOp>(threadRow, layout.rowsOfThread), number);
}

Value FmaGradScores::keyOf(int64_t number) {
  return code.add(code.binary<arith::RemUIOp>(code.thread, FmaGrid::kSide), number * FmaGrid::kSide);
}

// Keys behind the last one are the last one again.
FmaGradScores::Factors FmaGradScores::factors(const Tile &tile, const Keys &keys) {
  Value last = code.sub(keys.count, code.i32(1));
  auto numberOfKey = [&](Value key) {
    Value there = code.binary<arith::MinUIOp>(key, last);
    return tiles.numberOfKey(tile, code.add(keys.first, code.resized(there, 64)));
  };
  auto number = [&](Value row) { return table.number(row); };
  SmallVector<Value> scores = ofQueries.multiply({memory.query, number}, {memory.key, numberOfKey});
  SmallVector<Value> ofWeights =
      ofCotangents.multiply({memory.cotangent, number}, {memory.value, numberOfKey});
  Factors all;
  for (int64_t i = 0; i < layout.rowsOfThread; ++i) {
    int64_t first = i * layout.keysOfThread(), count = layout.keysOfThread();
    Factors row =
        ofRow(keys, i, ArrayRef(scores).slice(first, count), ArrayRef(ofWeights).slice(first, count));
    llvm::append_range(all.weights, row.weights);
    llvm::append_range(all.products, row.products);
  }
  return all;
}

FmaGradScores::Factors FmaGradScores::ofRow(const Keys &keys, int64_t number, ArrayRef<Value> scores,
                                            ArrayRef<Value> ofWeights) {
  Value inTile = rowOf(number);
  AttentionTiles::Row row = table.at(inTile);
  ScoreFunction::Range range = function.rangeOf(row, keys.first, keys.count);
  Value logSum = statistic(layout.logSums(), inTile), delta = statistic(layout.deltas(), inTile);
  SmallVector<Value> exponents, slopes;
  for (auto [j, product] : llvm::enumerate(scores)) {
    auto [score, slope] = function.boundedWithSlope(product);
    score = function.masked(score, row, range, keys.first, keyOf(static_cast<int64_t>(j)));
    exponents.push_back(code.binary<arith::SubFOp>(score, logSum));
    slopes.push_back(slope);
  }
  Factors factors;
  SmallVector<Value> weights = code.applyAll(numerics::Elementary::Exp, exponents);
  for (auto [weight, ofWeight, slope] : llvm::zip_equal(weights, ofWeights, slopes)) {
    Value ofScore = code.times(weight, code.binary<arith::SubFOp>(ofWeight, delta));
    Value ofProduct = slope ? code.times(ofScore, slope) : ofScore;
    if (shape.scale != 1)
      ofProduct = code.times(ofProduct, code.real(shape.scale));
    factors.weights.push_back(code.rounded(weight, shape.element));
    factors.products.push_back(code.rounded(ofProduct, shape.element));
  }
  return factors;
}
