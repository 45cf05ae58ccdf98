// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Fragments of `mma.sync`: which registers of which threads hold an operand or accumulators, and how they are
// loaded from swizzled tiles. The layouts are those of the PTX ISA for `ldmatrix` and for `mma` of shape
// m16n8 with 32 bytes of K.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_MMAFRAGMENTS_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_MMAFRAGMENTS_H

#include "../Staging/SwizzledStaging.h"

namespace mlir::ad::device {

class MmaFragments : public ContractionComponent {
public:
  static constexpr int64_t kM = 16, kN = 8, kKBytes = 32;
  /// Registers of a thread for an accumulator fragment of kM by kN.
  static constexpr int64_t kAccumulators = 4;

  MmaFragments(ContractionEmitter &emitter, SwizzledStaging &swizzled)
      : ContractionComponent(emitter), swizzled(swizzled) {}

  /// The fragments of 16 elements along M or N from `first` on, and 32 bytes of K: four registers, for A
  /// those along M first, for B those along K first.
  SmallVector<Value> load(const StagedOperand &part, Value stage, Value first, int64_t k);
  /// mma.sync: the accumulators plus the product of two fragments.
  SmallVector<Value> multiply(ValueRange a, ValueRange b, ValueRange accumulators);

private:
  SmallVector<Value> loadMatrices(const StagedOperand &part, Value stage, Value first, int64_t k);
  SmallVector<Value> loadWords(const StagedOperand &part, Value stage, Value first, int64_t k);
  Value multiplyBytes(ValueRange a, ValueRange b, ValueRange accumulators, Type result);

  SwizzledStaging &swizzled;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_MMAFRAGMENTS_H
