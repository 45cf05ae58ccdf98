// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the decompositions of attention and of its derivative are made of: blocks of queries, chunks of keys,
// and the scores between them.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_OPS_ATTENTIONBLOCKS_H
#define ADJOINT_LIB_DIALECT_AD_IR_OPS_ATTENTIONBLOCKS_H

#include "StepBuilder.h"
#include "adjoint/Dialect/AD/IR/ADAttentionOps.h"

namespace mlir::ad {

/// Adjacent queries or keys.
struct Span {
  Value begin; ///< null where the span is all of them
  OpFoldResult size;
};

/// Tensors of the operation are [batch, heads, queries, x] and [batch, groups, keys, x]. Those of a block are
/// [batch, groups, rows, x], where the rows are the queries of all heads that share a group of keys, and
/// [batch, groups, keys, x].
class AttentionBlocks : public StepBuilder {
public:
  template <typename Op>
  AttentionBlocks(OpBuilder &builder, Location loc, Op op)
      : AttentionBlocks(builder, loc, op, op.getQuery(), op.getKey(), op.getValue(), op.getMask(),
                        op.getCausal()) {
    window = op.getWindow();
    chunk = op.getChunk();
    if (op.getScale())
      scale = op.getScale()->convertToDouble();
    if (op.getSoftcap())
      softcap = op.getSoftcap()->convertToDouble();
  }

  /// Makes new values of some, for a span.
  using Step = function_ref<SmallVector<Value>(const Span &span, ValueRange values)>;
  /// Blocks of queries, one after the other.
  SmallVector<Value> overQueries(ValueRange values, Step step);
  /// Chunks of keys in ascending order, without those that no query of the block may see.
  SmallVector<Value> overKeys(const Span &queries, ValueRange values, Step step);

  Value queryRows(const Span &queries) { return rowsOf(query, queries); }
  Value keyRows(const Span &keys) { return keysOf(key, keys); }
  Value valueRows(const Span &keys) { return keysOf(value, keys); }
  /// Of a tensor of the queries: the rows of the block, and the tensor with new ones.
  Value rowsOf(Value tensor, const Span &queries);
  Value withRows(Value tensor, Value rows, const Span &queries);
  /// Of a tensor of the keys: the chunk, and the tensor with another one.
  Value keysOf(Value tensor, const Span &keys);
  Value withKeys(Value tensor, Value part, const Span &keys);

  /// Scores of rows and keys in the accumulator's type; -inf for keys that do not count. `slope` is the
  /// derivative of softcap, or null.
  struct Scores {
    Value values, slope;
  };
  Scores scores(Value rows, Value keyRows, const Span &queries, const Span &keys);
  /// `values`, [batch, groups, rows, keys], added to the part of a tensor with the sizes of the mask.
  Value addToMask(Value tensor, Value values, const Span &queries, const Span &keys);

  /// The contraction of the last axis of `x` with an axis of `y`, or of their third axes.
  Value product(Value x, Value y, int64_t xAxis, int64_t yAxis);
  Value number(double value);
  Value times(Value x, double factor) { return factor == 1 ? x : binary<MulOp>(x, number(factor)); }
  Value equal(Value x, double number);
  Value sumOfRows(Value x);

  /// One value everywhere, with the sizes of a block's rows and `last` columns.
  Value fullRows(const Span &queries, double value, int64_t last);
  /// Zeros, [batch, heads, queries, last] and [batch, groups, keys, last], of the accumulator's type or
  /// another one.
  Value zerosOfQueries(int64_t last, Type type = {});
  Value zerosOfKeys(int64_t last);
  Value zerosOfMask();
  /// The operand with all static sizes that are known of its axes. Other sizes are an error of the run.
  Value refined(Value operand, ArrayRef<OpFoldResult> sizes);
  Value refinedQueries(Value operand);
  /// The same tensor, with fewer sizes in its type.
  Value withType(Value tensor, Type type);
  /// [batch, heads, queries] from [batch, heads, queries, 1], and the other way round of an operand.
  Value withoutLast(Value tensor);
  Value withLast(Value operand);

  Type elementType() const { return element; }
  int64_t depthSize() const { return depth; }
  int64_t widthSize() const { return width; }
  double scaleFactor() const { return scale; }

private:
  AttentionBlocks(OpBuilder &builder, Location loc, Operation *op, Value query, Value key, Value value,
                  Value mask, bool causal);
  OpFoldResult rowCount(const Span &queries);

  SmallVector<Value> inSpans(OpFoldResult length, OpFoldResult block, ValueRange values, Step step);
  OpFoldResult keysOfChunk();
  OpFoldResult mayCount(const Span &queries, const Span &keys);
  void requireSize(Value operand, int64_t axis, OpFoldResult expected);
  SmallVector<Value> ifCounts(const Span &queries, const Span &keys, ValueRange values, Step step);
  Value part(Value tensor, ArrayRef<Span> spans);
  Value withPart(Value tensor, Value part, ArrayRef<Span> spans);
  SmallVector<Span> spansOfMask(const Span &queries, const Span &keys);

  Value numbersAlong(ArrayRef<OpFoldResult> sizes, int64_t axis, const Span &span,
                     ArrayRef<OpFoldResult> shape);
  Value maskOf(const Span &queries, const Span &keys);
  Value counts(const Span &queries, const Span &keys);

  Operation *op;
  Value query, key, value, mask;
  bool causal;
  std::optional<int64_t> window, chunk;
  std::optional<double> softcap;
  double scale;
  Type element, accumulator;
  OpFoldResult batch, queryCount, keyCount;
  int64_t heads, groups, depth, width;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_OPS_ATTENTIONBLOCKS_H
