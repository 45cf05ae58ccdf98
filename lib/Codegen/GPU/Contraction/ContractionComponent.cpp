// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionComponent.h"
#include "../SharedMemory.h"
#include "ContractionEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

ContractionComponent::ContractionComponent(ContractionEmitter &emitter)
    : KernelComponent(emitter), emitter(emitter), contraction(emitter.contraction), tile(emitter.tile),
      evaluator(emitter.evaluator), memoryAccess(emitter.memoryAccess), reductions(emitter.reductions),
      kernelOutputs(emitter.kernelOutputs), launch(emitter.launchShape),
      threadInBlock(emitter.mapping.threadInBlock), lane(emitter.mapping.lane),
      blockId(emitter.mapping.block), gridBlocks(emitter.mapping.gridBlocks), shared(emitter.shared),
      perThread(emitter.mapping.perThread) {}

Type ContractionComponent::accumulatorType() const {
  linalg::GenericOp op = contraction.op;
  return getElementTypeOrSelf(op.getResult(0).getType());
}

std::pair<Value, Value> ContractionComponent::divide(Value number, Value by) {
  return {binary<arith::DivUIOp>(number, by), binary<arith::RemUIOp>(number, by)};
}

Value ContractionComponent::divideUp(Value size, int64_t by) {
  return binary<arith::DivUIOp>(binary<arith::AddIOp>(size, indexConstant(by - 1)), indexConstant(by));
}

Value ContractionComponent::isBelow(Value index, Value size) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, size);
}

Value ContractionComponent::isEqual(Value index, int64_t value) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index, indexConstant(value));
}

LogicalResult ContractionComponent::emitLoop(Value lower, Value upper, Value step,
                                             function_ref<LogicalResult(Value)> body) {
  return emitter.emitLoop(lower, upper, step, body);
}

LogicalResult ContractionComponent::emitIf(Value condition, function_ref<LogicalResult()> then,
                                           function_ref<LogicalResult()> otherwise) {
  return emitter.emitIf(condition, then, otherwise);
}

LogicalResult ContractionComponent::emitIfNotConstant(Value condition, function_ref<LogicalResult()> code) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(condition));
  if (known)
    return *known ? code() : success();
  return emitIf(condition, code);
}

LogicalResult ContractionComponent::emitIfAllowed(Value allowed, function_ref<LogicalResult()> then,
                                                  function_ref<LogicalResult()> otherwise) {
  return emitter.emitIfAllowed(allowed, then, otherwise);
}

void ContractionComponent::synchronizeBlock() { emitter.mapping.synchronizeBlock(); }

void ContractionComponent::synchronizeWarp() { emitter.mapping.synchronizeWarp(); }

Value ContractionComponent::sharedPointer(Value byte) { return bytesBehind(builder, loc, shared, byte); }

SmallVector<Value> ContractionComponent::consecutiveIndices(Value first, int64_t length) {
  return emitter.vectorized.consecutiveIndices(first, length);
}
