// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How the kernel of ad.attention_grad by tensor cores divides its tiles, and its shared memory. A tile has
// own rows, 16 of each warp, and others pass by in steps: own queries and keys that pass by, or the other way
// round. With each query comes its cotangent, and with each key its value.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADSHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADSHAPE_H

#include "MmaShape.h"

namespace mlir::ad::device {

struct MmaGradShape {
  /// None where the rows do not fit.
  static std::optional<MmaGradShape> find(const AttentionShape &attention);

  int64_t depth, width;
  int64_t warps;
  int64_t rows() const { return warps * MmaShape::kM; }
  int64_t threads() const { return warps * 32; }
  /// Rows that pass by at once.
  int64_t step() const { return std::max(depth, width) > 64 ? 32 : 64; }

  /// Queries and keys have the depth, cotangents and values the width.
  enum Side { ofDepth, ofWidth };
  int64_t length(Side side) const { return side == ofDepth ? depth : width; }
  int64_t pitch(Side side) const { return SwizzledRows::pitchOf(length(side)); }

  /// Bytes of the own rows, and of two stages. A stage has rows of both sides, and the logarithms and deltas
  /// of queries.
  int64_t own(Side side) const { return side == ofDepth ? 0 : rows() * pitch(ofDepth); }
  int64_t stages() const { return own(ofWidth) + rows() * pitch(ofWidth); }
  int64_t inStage(Side side) const { return side == ofDepth ? 0 : step() * pitch(ofDepth); }
  int64_t statistics() const { return inStage(ofWidth) + step() * pitch(ofWidth); }
  int64_t stageBytes() const { return statistics() + 2 * step() * int64_t(sizeof(float)); }
  int64_t sharedBytes() const { return stages() + 2 * stageBytes(); }
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADSHAPE_H
