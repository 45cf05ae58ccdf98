// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The second launch of attention of few queries: products of weights and values of leaves, and sums of
// weights of nodes.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITPARTS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITPARTS_H

#include "SplitStaging.h"
#include "SplitTensorCores.h"
#include "SplitWeights.h"

namespace mlir::ad::device {

class SplitParts : SplitWeights {
public:
  SplitParts(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
             const SplitShape &shape);
  void emit();
  static Value unitCount(AttentionCode &code, const SplitShape &shape, AttentionTiles &tiles,
                         SplitCounts &counts);

private:
  static Value leafUnits(AttentionCode &code, AttentionTiles &tiles, SplitCounts &counts) {
    return code.binary<arith::MulIOp>(tiles.count(), counts.leaves());
  }
  void emitUnit(Value unit);
  void emitLeaf(const Tile &tile, const Part &leaf, Value number);
  void stageValues(const Tile &tile, const Part &leaf, Value step);
  /// Continues chains by a stage, whose first byte and first key that are (i32).
  SmallVector<Value> addStage(Value byte, Value key, ValueRange sums);
  SmallVector<Value> addStageOnTensorCores(Value byte, Value key, ValueRange sums);
  int64_t sumCount() const;
  /// Row of the tile and column of its columns, of a sum of the thread (i32).
  std::pair<Value, Value> placeOf(int64_t number);
  /// Few rows, or few columns on tensor cores, leave whole warps without sums.
  Value hasSums();

  SplitStaging staging;
  SplitTensorCores tensorCores;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITPARTS_H
