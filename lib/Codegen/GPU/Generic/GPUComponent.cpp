// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "GPUComponent.h"
#include "GPUKernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

GPUComponent::GPUComponent(GPUKernelEmitter &emitter)
    : KernelComponent(emitter), emitter(emitter), evaluator(emitter), maps(emitter.maps),
      kernelArguments(emitter.kernelArguments), reductionLoops(emitter.reductionLoops),
      hoisting(emitter.hoisting), memoryAccess(emitter.memoryAccess), chainSteps(emitter.chainSteps),
      tree(emitter.tree), reductions(emitter.reductions), kernelOutputs(emitter.kernelOutputs),
      launchShape(emitter.launchShape), mapping(emitter.mapping) {}

Value GPUComponent::sizeOf(Value tensor, int64_t axis) { return kernelArguments.sizeOf(tensor, axis); }

std::pair<Value, Value> GPUComponent::divide(Value number, Value by) {
  return {binary<arith::DivUIOp>(number, by), binary<arith::RemUIOp>(number, by)};
}

Value GPUComponent::divideUp(Value size, int64_t by) {
  return binary<arith::DivUIOp>(binary<arith::AddIOp>(size, indexConstant(by - 1)), indexConstant(by));
}

Value GPUComponent::isBelow(Value index, Value size) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, size);
}

Value GPUComponent::isEqual(Value index, int64_t value) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index, indexConstant(value));
}

LogicalResult GPUComponent::emitIfNotConstant(Value condition, function_ref<LogicalResult()> code) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(condition));
  if (known)
    return *known ? code() : success();
  return emitIf(condition, code);
}
