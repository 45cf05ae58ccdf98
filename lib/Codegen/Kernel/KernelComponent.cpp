// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KernelComponent.h"
#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::ad::codegen;

KernelComponent::KernelComponent(KernelEmitter &emitter)
    : emitter(emitter), kernel(emitter.kernel), function(emitter.function), builder(emitter.builder),
      loc(emitter.loc), vectorLanes(emitter.vectorLanes), lanes(emitter.lanes), mask(emitter.mask),
      flat(emitter.flat), buffers(emitter.buffers), results(emitter.results) {}

Value KernelComponent::indexConstant(int64_t value) { return emitter.indexConstant(value); }
