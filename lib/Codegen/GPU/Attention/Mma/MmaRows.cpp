// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaRows.h"
#include "adjoint/Numerics/Order.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Fragments after which the lanes are the first ones again.
static constexpr size_t kLaneFragments = numerics::canonicalLanes / 8;

RowPair MmaRows::maximum(const RowPair &before, ArrayRef<Fragment> scores) {
  RowPair largest = before;
  for (size_t row = 0; row < 2; ++row) {
    for (const Fragment &fragment : scores)
      for (size_t i = 0; i < 2; ++i)
        largest[row] = code.binary<arith::MaximumFOp>(largest[row], fragment[2 * row + i]);
    for (int64_t distance : {1, 2})
      largest[row] = code.binary<arith::MaximumFOp>(largest[row], code.ofThread(largest[row], distance));
  }
  return largest;
}

Fragment MmaRows::plus(const Fragment &x, const Fragment &y) {
  Fragment sum;
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] = code.plus(x[i], y[i]);
  return sum;
}

// Fragments that have the lanes of fragment `first`: the sums of their chains, and then their registers. A
// chain starts with its first weight instead of 0, since no weight is -0.
SmallVector<Value> MmaRows::weighChains(Chunk &chunk, size_t first) {
  SmallVector<Value> exponents, registers;
  for (size_t number = first; number < chunk.scores.size(); number += kLaneFragments)
    for (auto [i, score] : llvm::enumerate(chunk.scores[number]))
      exponents.push_back(code.binary<arith::SubFOp>(score, chunk.shift[i / 2]));
  ArrayRef<Value> weights = exponents = code.applyAll(numerics::Elementary::Exp, exponents);
  std::optional<Fragment> chains;
  for (; !weights.empty(); weights = weights.drop_front(4)) {
    Fragment fragment{weights[0], weights[1], weights[2], weights[3]};
    chains = chains ? plus(*chains, fragment) : fragment;
    llvm::append_range(registers, chunk.pack(fragment));
  }
  SmallVector<Value> all(chains->begin(), chains->end());
  llvm::append_range(all, registers);
  return all;
}

// Behind the last key, weights are 0. The condition also keeps roundings here: LLVM would move them behind
// all exponentials, and all weights would be kept in f32.
Fragment MmaRows::sumChains(Chunk &chunk, size_t first) {
  size_t fragments = llvm::divideCeil(chunk.scores.size() - first, kLaneFragments);
  SmallVector<Value> none(4, code.real(0));
  none.append(2 * fragments, chunk.zero);
  Value hasKeys = code.isBelow(code.i32(static_cast<int64_t>(first) * 8), chunk.count);
  SmallVector<Value> all = code.changeIf(hasKeys, none, [&] { return weighChains(chunk, first); });
  for (size_t i = 0; i < fragments; ++i)
    chunk.rounded[first + i * kLaneFragments] = {all[4 + 2 * i], all[5 + 2 * i]};
  return {all[0], all[1], all[2], all[3]};
}

// The halving tree over every `step`-th fragment, depth first: few sums are open at a time.
Fragment MmaRows::sumLanes(Chunk &chunk, size_t first, size_t step) {
  if (step == kLaneFragments)
    return sumChains(chunk, first);
  Fragment left = sumLanes(chunk, first, 2 * step);
  return plus(left, sumLanes(chunk, first + step, 2 * step));
}

MmaRows::Weights MmaRows::weigh(ArrayRef<Fragment> scores, const RowPair &shift, Value count, Value zero,
                                Pack pack) {
  Chunk chunk{scores, shift, code.hiddenCopy(count), zero, pack, {}};
  chunk.rounded.resize(scores.size());
  Fragment lanes = sumLanes(chunk, 0, 1);
  for (int64_t distance : {2, 1})
    for (Value &lane : lanes)
      lane = code.plus(lane, code.ofThread(lane, distance));
  return {{code.plus(lanes[0], lanes[1]), code.plus(lanes[2], lanes[3])}, chunk.rounded};
}
