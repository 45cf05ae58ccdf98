// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The last launch of attention of few queries: a thread has a column of a row, joins the parts of each chunk
// by the trees of the orders, and goes through the chunks as the decomposition does.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITJOIN_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITJOIN_H

#include "../PairwiseStack.h"
#include "SplitKernel.h"

namespace mlir::ad::device {

class SplitJoin : SplitKernel {
public:
  SplitJoin(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
            const SplitShape &shape);
  void emit();

private:
  void emitRow(const Tile &tile);
  /// Factors and sums of weights of some chunks, one of each thread, to shared memory.
  void writeChunks(Value row, Value first);
  /// Adds chunks, from `first` on, to the sums of weights and products.
  SmallVector<Value> addChunks(Value row, Value column, Value first, ValueRange sums);
  /// The tree over `count` parts of a chunk.
  Value joined(std::optional<PairwiseStack> &groups, Value count, function_ref<Value(Value)> part);
  Value joinGroup(Value first, Value count, function_ref<Value(Value)> part);
  void storeRow(const Tile &tile, Value column, Value maximum, ValueRange sums);
  /// Parts of a chunk that is there, of so many keys each.
  Value partsOf(Value chunk, int64_t keys) {
    return code.binary<arith::CeilDivUIOp>(chunks.count(chunk), code.i64(keys));
  }

  std::optional<PairwiseStack> nodeGroups, leafGroups; // where a chunk may have several
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITJOIN_H
