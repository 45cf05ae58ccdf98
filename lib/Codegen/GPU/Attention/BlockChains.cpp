// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "BlockChains.h"
#include "adjoint/Numerics/Order.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::canonicalBlock;

BlockChains::BlockChains(AttentionCode &code, int64_t count, int64_t mostTerms) : code(code), count(count) {
  if (mostTerms > canonicalBlock)
    blocks.emplace(code, count, 1 + llvm::Log2_64_Ceil(llvm::divideCeil(mostTerms, canonicalBlock)));
}

SmallVector<Value> BlockChains::start() {
  SmallVector<Value> state(count, code.real(0));
  if (blocks) {
    PairwiseStack::State empty = blocks->empty();
    state.append({empty.parts, empty.depth});
  }
  return state;
}

SmallVector<Value> BlockChains::next(ValueRange state, ValueRange chains, Value end, Value length) {
  SmallVector<Value> sums(chains);
  if (!blocks)
    return sums;
  Value isWhole =
      code.compare(arith::CmpIPredicate::eq, code.binary<arith::RemUIOp>(end, canonicalBlock), code.i64(0));
  Value ends = code.binary<arith::OrIOp>(isWhole, code.compare(arith::CmpIPredicate::uge, end, length));
  PairwiseStack::State stack{state[count], state[count + 1]};
  blocks->pushIf(ends, stack, sums, [](ValueRange all) { return SmallVector<Value>(all); });
  sums.append({stack.parts, stack.depth});
  return sums;
}

SmallVector<Value> BlockChains::total(ValueRange state) {
  return blocks ? blocks->total({state[count], state[count + 1]}) : SmallVector<Value>(state);
}
