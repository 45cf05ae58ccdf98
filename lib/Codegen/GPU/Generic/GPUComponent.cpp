// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "GPUComponent.h"
#include "GPUKernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

GPUComponent::GPUComponent(GPUKernelEmitter &emitter)
    : KernelComponent(emitter), emitter(emitter), evaluator(emitter.evaluator), hoisting(emitter.hoisting),
      memoryAccess(emitter.memoryAccess), reductions(emitter.reductions),
      kernelOutputs(emitter.kernelOutputs), scalars(emitter.scalars), launchShape(emitter.launchShape),
      mapping(emitter.mapping) {}

LogicalResult GPUComponent::emitLoop(Value lower, Value upper, Value step,
                                     function_ref<LogicalResult(Value)> body) {
  return emitter.emitLoop(lower, upper, step, body);
}

LogicalResult GPUComponent::emitIf(Value condition, function_ref<LogicalResult()> then,
                                   function_ref<LogicalResult()> otherwise) {
  return emitter.emitIf(condition, then, otherwise);
}

Value GPUComponent::sizeOf(Value tensor, int64_t axis) {
  return emitter.kernelArguments.sizeOf(tensor, axis);
}
