// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

RowComponent::RowComponent(RowEmitter &emitter)
    : GPUComponent(emitter), emitter(emitter), rows(emitter.rows), warpReductions(emitter.warpReductions),
      vectorized(emitter.vectorized) {}
