// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows of operands of `mma.sync` that begin at any byte, as those of 1003 16-bit elements do: `cp.async`
// copies the aligned 16-byte chunks around a row to shared memory. When they have arrived, threads shift them
// to where the row should have begun (decision 0053).

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_REALIGNEDROWS_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_REALIGNEDROWS_H

#include "OperandStaging.h"

namespace mlir::ad::device {

class RealignedRows : public ContractionComponent {
public:
  RealignedRows(ContractionEmitter &emitter, TileMapping &tileMapping, OperandStaging &staging)
      : ContractionComponent(emitter), tileMapping(tileMapping), staging(staging) {}

  /// The byte of shared memory where a chunk of a staged row is in a stage of a tile.
  using ByteOfChunk = function_ref<Value(const StagedOperand &part, Value stage, Value row, Value chunk)>;
  /// Copies the rows of the K tile with a number into a stage. What is beyond the end of a row becomes zero.
  void copy(const StagedOperand &part, const TileOrigin &origin, Value kTile, Value stage,
            ByteOfChunk byteOf);
  /// Moves the rows of a K tile from its stage to the tile that is multiplied.
  void realign(const StagedOperand &part, const TileOrigin &origin, Value stage, ByteOfChunk byteOf);

private:
  Value elementAt(const StagedOperand &part, ArrayRef<Index> loops);
  Value bytesPerStep(const StagedOperand &part);
  Value firstByte(const StagedOperand &part, const TileOrigin &origin, Value row);
  Value bytesOfChunk(const StagedOperand &part, const TileOrigin &origin, Value k, Value row, Value chunk,
                     Value firstByte);
  Value pointerTo(const StagedOperand &part, Value stage, Value row, int64_t constantChunk, Value chunk,
                  ByteOfChunk byteOf);
  void moveChunks(const StagedOperand &part, Value row, Value first, int64_t count, Value stage, Value byte,
                  ByteOfChunk byteOf);
  Value word(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
  }
  Value toWord(Value index) {
    return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(), index);
  }

  TileMapping &tileMapping;
  OperandStaging &staging;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_REALIGNEDROWS_H
