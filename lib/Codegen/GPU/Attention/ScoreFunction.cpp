// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ScoreFunction.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::Elementary;

ScoreFunction::Bounded ScoreFunction::boundedWithSlope(Value product) {
  Value score = shape.scale == 1 ? product : code.times(product, code.real(shape.scale));
  if (!shape.softcap)
    return {score, Value()};
  Value quotient = code.binary<arith::DivFOp>(score, code.real(*shape.softcap));
  Value bent = code.apply(Elementary::Tanh, quotient);
  Value slope = code.binary<arith::SubFOp>(code.real(1), code.times(bent, bent));
  return {*shape.softcap == 1 ? bent : code.times(bent, code.real(*shape.softcap)), slope};
}

Value ScoreFunction::mayHide(Value firstQuery, Value endQuery, Value firstKey, Value endKey) {
  Value hides = arith::ConstantIntOp::create(code.builder, code.loc, 0, /*width=*/1);
  auto orIf = [&](Value condition) { hides = code.binary<arith::OrIOp>(condition, hides); };
  if (shape.causal)
    orIf(code.isBelow(code.add(firstQuery, 1), endKey));
  if (!shape.window)
    return hides;
  // The largest distance of a query and a key is one less.
  Value window = code.i64(std::min<int64_t>(*shape.window, AttentionTiles::kFarthest));
  orIf(code.isBelow(code.add(firstKey, window), endQuery));
  orIf(code.isBelow(code.add(firstQuery, window), endKey));
  return hides;
}

// Differences of numbers are compared with a sign, since a row may be before or after all of the keys.
ScoreFunction::Range ScoreFunction::rangeOf(const AttentionTiles::Row &row, Value first, Value count) {
  Value end = code.resized(count, 64), begin, query = code.sub(row.query, first);
  auto endBefore = [&](Value key) { end = code.binary<arith::MinSIOp>(end, key); };
  if (shape.causal)
    endBefore(code.add(query, 1));
  if (shape.window) {
    int64_t window = std::min<int64_t>(*shape.window, AttentionTiles::kFarthest);
    if (!shape.causal)
      endBefore(code.add(query, window));
    Value least = code.binary<arith::MaxSIOp>(code.add(query, 1 - window), 0);
    begin = code.resized(code.binary<arith::MinSIOp>(least, code.resized(count, 64)), 32);
  }
  return {begin, code.resized(code.binary<arith::MaxSIOp>(end, 0), 32)};
}

Value ScoreFunction::masked(Value score, const AttentionTiles::Row &row, const Range &range, Value first,
                            Value key) {
  Value condition = code.isBelow(key, range.end);
  auto demand = [&](Value also) { condition = code.binary<arith::AndIOp>(condition, also); };
  if (range.begin)
    demand(code.compare(arith::CmpIPredicate::uge, key, range.begin));
  if (shape.mask) {
    const AttentionMemory::Tensor &mask = memory.mask;
    Value element = row.mask;
    if (shape.mask.getDimSize(3) != 1) {
      // A mask has no element for keys that are not there.
      Value inside = code.select(condition, code.resized(key, 64), code.i64(0));
      element = code.add(element, code.add(first, inside));
    }
    if (isa<FloatType>(mask.element))
      score = code.plus(score, memory.loadWide(mask, element));
    else
      demand(memory.load(mask, element));
  }
  return code.select(condition, score, code.real(-std::numeric_limits<double>::infinity()));
}
