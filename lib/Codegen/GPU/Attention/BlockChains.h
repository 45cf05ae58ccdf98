// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums of products over terms that come one after the other, in the canonical order of ad.dot: chains of
// blocks, and a tree over the blocks where there may be several.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_BLOCKCHAINS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_BLOCKCHAINS_H

#include "PairwiseStack.h"

namespace mlir::ad::device {

class BlockChains {
public:
  /// So many sums over at most so many terms.
  BlockChains(AttentionCode &code, int64_t count, int64_t mostTerms);

  SmallVector<Value> start();
  /// Of a state, the chains that have not ended, which the caller continues.
  ValueRange chains(ValueRange state) { return state.take_front(count); }
  /// The state after the terms up to `end` of `length` (i64). Steps end where blocks do.
  SmallVector<Value> next(ValueRange state, ValueRange chains, Value end, Value length);
  SmallVector<Value> total(ValueRange state);

private:
  AttentionCode &code;
  int64_t count;
  std::optional<PairwiseStack> blocks;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_BLOCKCHAINS_H
