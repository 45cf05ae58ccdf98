// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// K tiles of the operands for `mma.sync`, in a swizzled layout that `ldmatrix` reads without bank conflicts:
// the 16-byte chunk c of staged row r is stored at chunk c ^ (r % 8) of that row.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_SWIZZLEDSTAGING_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_SWIZZLEDSTAGING_H

#include "RealignedRows.h"

namespace mlir::ad::device {

class SwizzledStaging : public ContractionComponent {
public:
  SwizzledStaging(ContractionEmitter &emitter, TileMapping &tileMapping, OperandStaging &staging)
      : ContractionComponent(emitter), tileMapping(tileMapping), staging(staging),
        rows(emitter, tileMapping, staging) {}

  /// Loads the K tile with a number in the origin's part of K, of both operands, into its stage.
  LogicalResult loadKTile(const TileOrigin &origin, Value kTile);
  /// Moves rows of a K tile that were not aligned into place, before it is multiplied.
  void realignKTile(const TileOrigin &origin, Value kTile);
  /// The byte of shared memory where a chunk of a staged row is stored.
  Value byteOfChunk(const StagedOperand &part, Value stage, Value row, Value chunk);

private:
  void copyPieces(const StagedOperand &part, const TileOrigin &origin, Value k, Value stage, int64_t bytes);
  LogicalResult storeElements(const StagedOperand &part, const TileOrigin &origin, Value k, Value stage);

  TileMapping &tileMapping;
  OperandStaging &staging;
  RealignedRows rows;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_SWIZZLEDSTAGING_H
