// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands of contractions in shared memory: which layout a K tile of an operand has, and how threads load
// it, by `cp.async` or through registers. The layouts are PaddedStaging and SwizzledStaging.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_OPERANDSTAGING_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_OPERANDSTAGING_H

#include "../TileMapping.h"

namespace mlir::ad::device {

/// The K tile of operand A or B in shared memory. Its staged rows run along K if it is K-major, else along M
/// (of A) or N (of B), and are contiguous.
struct StagedOperand {
  OpOperand *operand;
  bool isA;
  unsigned loop;      // M for A, N for B
  Value size;         // of that loop
  int64_t extent, k;  // of the tile along that loop, and along K
  bool kMajor;        // the staged tile
  bool globalKMajor;  // the operand in global memory
  int64_t copyBytes;  // of a `cp.async`: what rows in global memory are aligned to, if threads can copy them,
  Value aligned;      // under this condition if the size of rows is dynamic
  int64_t offset = 0; // bytes from the start of shared memory
  /// Bytes from one stage to the next, and of staged rows in slabs that follow each other; 0: the stages of
  /// an operand follow each other, and rows are whole.
  int64_t stageStride = 0, slabRowBytes = 0;
  int64_t elementBytes() const { return memoryBytes(getElementTypeOrSelf(operand->get().getType())); }
  int64_t chunkElements() const { return kChunkBytes / elementBytes(); }
  int64_t rowLength() const { return kMajor ? k : extent; }
  int64_t rowCount() const { return kMajor ? extent : k; }
  /// The first row or column of the operand that the tile needs.
  Value start(const TileOrigin &origin) const { return isA ? origin.m : origin.n; }

  /// Whether rows that are not aligned are copied as they lie, and moved into place afterwards
  /// (RealignedRows.h).
  bool realigned = false;
  int64_t rowBytes() const { return rowLength() * elementBytes(); }
  /// A row that is not aligned ends in one more chunk.
  int64_t rawRowBytes() const { return rowBytes() + kChunkBytes; }
  int64_t tileBytes() const { return rowCount() * rowBytes(); }
  int64_t rawTileBytes() const { return rowCount() * rawRowBytes(); }
};

/// A number of an element or chunk that a thread loads: a value below `range`, and a multiple of the range. A
/// range of 0 is unknown. Accesses of a thread at constant distances then share an address.
struct LoadNumber {
  Value base;
  int64_t range, constant;
};

class OperandStaging : public ContractionComponent {
public:
  OperandStaging(ContractionEmitter &emitter, TileMapping &tileMapping)
      : ContractionComponent(emitter), tileMapping(tileMapping) {}

  StagedOperand planA() { return plan(contraction.operandA, /*isA=*/true); }
  StagedOperand planB() { return plan(contraction.operandB, /*isA=*/false); }
  /// Plans both operands, for `operands`.
  void planOperands();
  /// Bytes of shared memory for all stages of an operand of `mma.sync`.
  int64_t swizzledBytes(const StagedOperand &part) const;
  SmallVector<StagedOperand, 2> operands; // A and B

  /// Emits `code` for each number below `count`, distributed over the threads of the block.
  LogicalResult distribute(int64_t count, function_ref<LogicalResult(LoadNumber number)> code);
  /// Quotient and remainder.
  std::pair<LoadNumber, LoadNumber> divideNumber(LoadNumber number, int64_t by);
  Value sum(Value first, LoadNumber number) {
    Value sum = first ? binary<arith::AddIOp>(first, number.base) : number.base;
    return binary<arith::AddIOp>(sum, indexConstant(number.constant));
  }
  /// The operand's element at an index of its M or N and a step of K, clamped to its bounds.
  FailureOr<Value> loadClamped(const StagedOperand &part, const TileOrigin &origin, Value index, Value step);
  /// `cp.async` of `bytes` bytes (PTX ISA: cp.async, ignore-src). Elements outside of the operand become
  /// zero.
  void asyncCopy(const StagedOperand &part, const TileOrigin &origin, Value index, Value step, Value target,
                 int64_t bytes);
  /// Whether an index is below a size; a constant where all tiles of a size are whole.
  Value isInside(Value index, Value size, int64_t tileSize);

private:
  StagedOperand plan(OpOperand *operand, bool isA);

  TileMapping &tileMapping;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_OPERANDSTAGING_H
