// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The balanced pairwise tree of canonical orders over parts that come one after the other: a stack of sums
// whose siblings are not computed yet, in memory of the thread. It grows and shrinks like a binary counter.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_PAIRWISESTACK_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_PAIRWISESTACK_H

#include "AttentionCode.h"

namespace mlir::ad::device {

class PairwiseStack {
public:
  /// Of trees over so many sums at once, with at most 2^(levels - 1) parts.
  PairwiseStack(AttentionCode &code, int64_t count, int64_t levels);

  /// Numbers (i64): the parts so far, and the sums on the stack.
  struct State {
    Value parts, depth;
  };
  State empty() { return {code.i64(0), code.i64(0)}; }
  State push(const State &state, ValueRange sums);
  /// Where the condition holds, pushes what `join` makes of some sums, and starts these from 0 again.
  void pushIf(Value condition, State &state, SmallVector<Value> &sums,
              function_ref<SmallVector<Value>(ValueRange)> join);
  /// The sums of all parts, of which there is at least one.
  SmallVector<Value> total(const State &state);

private:
  Value addressOf(Value level, int64_t number);
  SmallVector<Value> joinWhile(ValueRange start, function_ref<Value(ValueRange)> condition);

  AttentionCode &code;
  int64_t count;
  Value memory;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_PAIRWISESTACK_H
