// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a kernel of ad.attention or ad.attention_grad knows of the operation when it is compiled.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONSHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONSHAPE_H

#include "adjoint/Codegen/Kernel/LaunchShape.h"
#include "adjoint/Dialect/AD/IR/ADAttentionOps.h"

namespace mlir::ad::device {

struct AttentionShape {
  /// Of ad.attention or ad.attention_grad.
  template <typename Op>
  explicit AttentionShape(Op op) : AttentionShape(op.getQuery(), op.getKey(), op.getValue(), op.getMask()) {
    causal = op.getCausal();
    window = op.getWindow();
    chunk = op.getChunk();
    if (op.getScale())
      scale = op.getScale()->convertToDouble();
    if (op.getSoftcap())
      softcap = op.getSoftcap()->convertToDouble();
  }

  RankedTensorType query, key, value, mask; ///< mask: null without one
  Type element, accumulator;
  bool causal = false;
  std::optional<int64_t> window, chunk;
  int64_t heads, groups, depth, width;
  double scale;
  std::optional<double> softcap;
  int64_t headsOfGroup() const { return heads / groups; }
  /// Those of a block of the decomposition, at most; ShapedType::kDynamic if queries are open.
  int64_t rowsOfBlock() const;
  /// The keys of a chunk, at most; none if that is not known.
  std::optional<int64_t> mostKeysOfChunk() const;
  /// Whether a chunk has no more keys.
  bool hasChunksUpTo(int64_t keys) const;
  /// Tiles of so many rows; none if the number of queries is open. An open number of batches counts as many.
  std::optional<int64_t> tileCount(int64_t rowsOfTile) const;

private:
  AttentionShape(Value query, Value key, Value value, Value mask);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONSHAPE_H
