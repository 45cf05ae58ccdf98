// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "../Generic/SharedMemory.h"
#include "ContractionEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

ContractionComponent::ContractionComponent(ContractionEmitter &emitter)
    : GPUComponent(emitter), emitter(emitter), contraction(emitter.contraction), tile(emitter.tile),
      vectorized(emitter.vectorized), shared(emitter.shared) {}

Type ContractionComponent::accumulatorType() const {
  linalg::GenericOp op = contraction.op;
  return getElementTypeOrSelf(op.getResult(0).getType());
}

Value ContractionComponent::sharedPointer(Value byte) { return addBytes(builder, loc, shared, byte); }
