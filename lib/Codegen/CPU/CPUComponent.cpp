// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "CPUComponent.h"
#include "CPUKernelEmitter.h"

using namespace mlir::ad::cpu;

CPUComponent::CPUComponent(CPUKernelEmitter &emitter)
    : KernelComponent(emitter), emitter(emitter), tiles(emitter.tiles) {}
