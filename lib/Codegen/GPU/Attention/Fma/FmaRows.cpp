// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaRows.h"
#include "adjoint/Numerics/Order.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::canonicalLanes;

static_assert(canonicalLanes == FmaShape::kSlabKeys, "a slab has a key of each lane");

FmaRows::FmaRows(AttentionCode &code, const AttentionShape &shape, const FmaShape &layout)
    : code(code), shape(shape), layout(layout) {
  row = code.binary<arith::DivUIOp>(code.thread, layout.threadsOfRow());
  inRow = code.binary<arith::RemUIOp>(code.thread, layout.threadsOfRow());
}

int64_t FmaRows::lanesOfThread() const { return canonicalLanes / layout.threadsOfRow(); }

// A thread has every threadsOfRow-th lane.
Value FmaRows::placeOf(Value slab, int64_t lane) {
  Value column = code.add(slab, code.add(inRow, lane * layout.threadsOfRow()));
  return code.add(code.binary<arith::MulIOp>(row, layout.scoreStride()), column);
}

Value FmaRows::maximum(Value before, Value count) {
  Value slabs = code.i32(FmaShape::kSlabKeys);
  Value largest = code.loop(code.i32(0), count, slabs, before, [&](Value slab, ValueRange so) {
    Value next = so.front();
    for (int64_t lane = 0; lane < lanesOfThread(); ++lane)
      next = code.binary<arith::MaximumFOp>(
          next, code.load(code.shared(layout.scores()), code.accumulator, placeOf(slab, lane)));
    return SmallVector<Value>{next};
  })[0];
  for (int64_t distance = 1; distance < layout.threadsOfRow(); distance *= 2)
    largest = code.binary<arith::MaximumFOp>(largest, code.ofThread(largest, distance));
  return largest;
}

// Keys behind the last one have the weight 0 in sums, and -0 where it multiplies the +0 of a value that is
// not there: -0 changes no sum.
SmallVector<Value> FmaRows::addWeights(Value shift, Value count, ValueRange lanes) {
  return code.loop(
      code.i32(0), count, code.i32(FmaShape::kSlabKeys), lanes, [&](Value slab, ValueRange before) {
        SmallVector<Value> exponents, next;
        for (int64_t lane = 0; lane < lanesOfThread(); ++lane)
          exponents.push_back(code.binary<arith::SubFOp>(
              code.load(code.shared(layout.scores()), code.accumulator, placeOf(slab, lane)), shift));
        SmallVector<Value> weights = code.applyAll(numerics::Elementary::Exp, exponents);
        for (int64_t lane = 0; lane < lanesOfThread(); ++lane) {
          next.push_back(code.plus(before[lane], weights[lane]));
          Value key = code.add(slab, code.add(inRow, lane * layout.threadsOfRow()));
          Value narrow = code.rounded(weights[lane], shape.element);
          code.store(code.shared(layout.scores()), placeOf(slab, lane),
                     code.select(code.isBelow(key, count), narrow, code.real(-0.0)));
        }
        return next;
      });
}

// Lanes that are far apart belong to one thread, those of neighbours come last.
Value FmaRows::joinLanes(ValueRange lanes) {
  SmallVector<Value> sums(lanes);
  for (size_t half = sums.size() / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half; ++i)
      sums[i] = code.plus(sums[i], sums[i + half]);
  Value sum = sums.front();
  for (int64_t distance = layout.threadsOfRow() / 2; distance >= 1; distance /= 2)
    sum = code.plus(sum, code.ofThread(sum, distance));
  return sum;
}
