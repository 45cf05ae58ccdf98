// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// K tiles of the operands for SIMT code: one step of K after another, each with all M or N elements of the
// tile, padded against bank conflicts. A thread reads vectors of consecutive elements.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_PADDEDSTAGING_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_PADDEDSTAGING_H

#include "OperandStaging.h"

namespace mlir::ad::device {

/// Consecutive M or N elements that a thread of SIMT code reads at once.
constexpr int64_t kSimtVector = 4;

class PaddedStaging : public ContractionComponent {
public:
  PaddedStaging(ContractionEmitter &emitter, OperandStaging &staging)
      : ContractionComponent(emitter), staging(staging) {}

  /// Loads the tiles of both operands from step `k` on into a stage.
  LogicalResult loadKTile(const TileOrigin &origin, Value k, Value stage);
  /// The address of an element, at its index in M or N and in K within the tile.
  Value pointerAt(const StagedOperand &part, Value stage, Value index, Value step);
  /// Elements of a stage.
  int64_t stageElements(const StagedOperand &part) { return kStride(part) * part.k; }

private:
  LogicalResult loadOperand(const StagedOperand &part, const TileOrigin &origin, Value k, Value stage);
  void copyPieces(const StagedOperand &part, const TileOrigin &origin, Value k, Value stage);
  LogicalResult copyElements(const StagedOperand &part, const TileOrigin &origin, Value k, Value stage);
  std::pair<LoadNumber, LoadNumber> elementInTile(const StagedOperand &part, LoadNumber number);
  int64_t kStride(const StagedOperand &part);

  OperandStaging &staging;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_PADDEDSTAGING_H
