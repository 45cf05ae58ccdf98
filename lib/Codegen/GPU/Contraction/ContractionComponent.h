// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components of contraction kernels on GPUs.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOMPONENT_H

#include "../Generic/GPUKernelEmitter.h"
#include "ContractionTiles.h"

namespace mlir::ad::device {

class ContractionEmitter;

class ContractionComponent : public GPUComponent {
public:
  explicit ContractionComponent(ContractionEmitter &emitter);

protected:
  Type operandType() const { return getElementTypeOrSelf(contraction.operandA->get().getType()); }
  Type accumulatorType() const;
  std::pair<Value, int64_t> splitConstant(Value number);
  /// The same number from a shuffle of the thread with itself, which no compiler sees through: what is
  /// computed from it is computed here, and not long before, where it would occupy a register.
  Value hiddenCopy(Value number);
  /// The address of a byte of shared memory.
  Value sharedPointer(Value byte);

  ContractionEmitter &emitter;
  const Contraction &contraction;
  const ContractionTile &tile;
  VectorizedAccess &vectorized;
  Value &shared; // start of shared memory
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOMPONENT_H
