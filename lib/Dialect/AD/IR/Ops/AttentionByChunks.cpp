// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The decompositions of ad.attention and ad.attention_grad. Softmax needs the maximum and the sum of a whole
// row of scores: the chunks so far have given a maximum, and what they summed is scaled when a later one has
// a larger score (M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", 2018; T. Dao et
// al., "FlashAttention", 2022). The derivative has the logarithm of the sum, and needs no maximum.

#include "AttentionBlocks.h"
#include "adjoint/Dialect/AD/IR/Written.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 0 for -inf, the maximum of no scores: inf - inf would be NaN.
static Value finite(AttentionBlocks &blocks, Value maximum) {
  return blocks.select(blocks.equal(maximum, -kInfinity), blocks.number(0), maximum);
}

namespace {
// Of each row: the largest score so far, and the sums of exp(score - maximum), alone and times the values.
struct Sums {
  Value maximum, weight, values;

  explicit Sums(ValueRange range) : maximum(range[0]), weight(range[1]), values(range[2]) {}
  Sums(Value maximum, Value weight, Value values) : maximum(maximum), weight(weight), values(values) {}
  SmallVector<Value> all() const { return {maximum, weight, values}; }
};
} // namespace

static Sums addChunk(AttentionBlocks &blocks, OpBuilder &builder, Location loc, const Sums &before,
                     Value scores, Value values) {
  Value largest = ReduceMaxOp::create(builder, loc, scores, ArrayRef<int64_t>{3}, /*keepDims=*/true);
  Value maximum = blocks.binary<MaxOp>(before.maximum, largest), shift = finite(blocks, maximum);
  Value weights = blocks.unary<ExpOp>(blocks.binary<SubOp>(scores, shift));
  Value factor = blocks.unary<ExpOp>(blocks.binary<SubOp>(before.maximum, shift));
  Value weight = blocks.binary<AddOp>(blocks.binary<MulOp>(before.weight, factor), blocks.sumOfRows(weights));
  Value product = blocks.product(blocks.cast(weights, blocks.elementType()), values, 3, 2);
  return {maximum, weight, blocks.binary<AddOp>(blocks.binary<MulOp>(before.values, factor), product)};
}

FailureOr<SmallVector<Value>> AttentionOp::decompose(OpBuilder &builder) {
  Location loc = rememberWritten(*this);
  AttentionBlocks blocks(builder, loc, *this);
  SmallVector<Value> results = blocks.overQueries(
      {blocks.zerosOfQueries(blocks.widthSize(), blocks.elementType()), blocks.zerosOfQueries(1)},
      [&](const Span &queries, ValueRange whole) -> SmallVector<Value> {
        Value rows = blocks.queryRows(queries);
        Sums none(blocks.fullRows(queries, -kInfinity, 1), blocks.fullRows(queries, 0, 1),
                  blocks.fullRows(queries, 0, blocks.widthSize()));
        Sums sums(blocks.overKeys(queries, none.all(), [&](const Span &keys, ValueRange before) {
          Value scores = blocks.scores(rows, blocks.keyRows(keys), queries, keys).values;
          return addChunk(blocks, builder, loc, Sums(before), scores, blocks.valueRows(keys)).all();
        }));
        // The sums of a row for which no key counts are 0.
        Value divisor = blocks.select(blocks.equal(sums.weight, 0), blocks.number(1), sums.weight);
        Value means = blocks.cast(blocks.binary<DivOp>(sums.values, divisor), blocks.elementType());
        Value logSum = blocks.binary<AddOp>(finite(blocks, sums.maximum), blocks.unary<LogOp>(sums.weight));
        return {blocks.withRows(whole[0], means, queries), blocks.withRows(whole[1], logSum, queries)};
      });
  return SmallVector<Value>{blocks.withType(results[0], getResult().getType()),
                            blocks.withType(blocks.withoutLast(results[1]), getLogSum().getType())};
}

namespace {
// The rows of a block that do not depend on the keys.
struct GradRows {
  Value queries, logSum, delta, cotangent;
};
} // namespace

// Adds what a block of queries and a chunk of keys give: to the rows of the cotangent of the queries, and to
// the whole of those of keys, values and perhaps the mask.
static SmallVector<Value> addCotangents(AttentionBlocks &blocks, const GradRows &rows, const Span &queries,
                                        const Span &keys, ValueRange before) {
  Value keyRows = blocks.keyRows(keys);
  AttentionBlocks::Scores scores = blocks.scores(rows.queries, keyRows, queries, keys);
  Value weights = blocks.unary<ExpOp>(blocks.binary<SubOp>(scores.values, rows.logSum));
  Value ofWeights = blocks.product(rows.cotangent, blocks.valueRows(keys), 3, 3);
  Value ofScores = blocks.binary<MulOp>(weights, blocks.binary<SubOp>(ofWeights, rows.delta));
  auto added = [&](Value whole, Value part) {
    return blocks.withKeys(whole, blocks.binary<AddOp>(blocks.keysOf(whole, keys), part), keys);
  };
  Value narrowWeights = blocks.cast(weights, blocks.elementType());
  Value values = added(before[2], blocks.product(narrowWeights, rows.cotangent, 2, 2));
  Value ofProducts = scores.slope ? blocks.binary<MulOp>(ofScores, scores.slope) : ofScores;
  Value narrow = blocks.cast(blocks.times(ofProducts, blocks.scaleFactor()), blocks.elementType());
  SmallVector<Value> sums = {blocks.binary<AddOp>(before[0], blocks.product(narrow, keyRows, 3, 2)),
                             added(before[1], blocks.product(narrow, rows.queries, 2, 2)), values};
  if (before.size() > 3)
    sums.push_back(blocks.addToMask(before[3], ofScores, queries, keys));
  return sums;
}

FailureOr<SmallVector<Value>> AttentionGradOp::decompose(OpBuilder &builder) {
  Location loc = rememberWritten(*this);
  AttentionBlocks blocks(builder, loc, *this);
  Value logSum = blocks.withLast(getLogSum()), delta = blocks.withLast(getDelta());
  Value cotangent = blocks.refinedQueries(getCotangent());
  SmallVector<Value> zeros = {blocks.zerosOfQueries(blocks.depthSize()),
                              blocks.zerosOfKeys(blocks.depthSize()), blocks.zerosOfKeys(blocks.widthSize())};
  if (getMaskGrad())
    zeros.push_back(blocks.zerosOfMask());
  SmallVector<Value> sums =
      blocks.overQueries(zeros, [&](const Span &queries, ValueRange whole) -> SmallVector<Value> {
        // Where no key counts, each score is -inf and each weight 0.
        GradRows rows{blocks.queryRows(queries), finite(blocks, blocks.rowsOf(logSum, queries)),
                      blocks.rowsOf(delta, queries), blocks.rowsOf(cotangent, queries)};
        SmallVector<Value> current(whole);
        current.front() = blocks.fullRows(queries, 0, blocks.depthSize());
        current = blocks.overKeys(queries, current, [&](const Span &keys, ValueRange before) {
          return addCotangents(blocks, rows, queries, keys, before);
        });
        current.front() = blocks.withRows(whole.front(), current.front(), queries);
        return current;
      });
  SmallVector<Value> results;
  for (auto [sum, result] : llvm::zip_equal(sums, getResults())) {
    Value narrow = blocks.cast(sum, getElementTypeOrSelf(result.getType()));
    results.push_back(blocks.withType(narrow, result.getType()));
  }
  return results;
}
