// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components of a GPU kernel emitter. It offers what they share: evaluation of values, memory
// accesses, the thread mapping, branches and loops.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUCOMPONENT_H

#include "../../Kernel/KernelEmitter.h"
#include "LaunchShape.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad::device {

using namespace codegen;

class GPUKernelEmitter;
class ThreadMapping;

class GPUComponent : public KernelComponent {
public:
  explicit GPUComponent(GPUKernelEmitter &emitter);

protected:
  /// Values computed at a position, valid in the blocks that the current one is nested in.
  class Scope {
  public:
    explicit Scope(GPUComponent &component) : evaluator(component.evaluator) {
      evaluator.caches.emplace_back();
    }
    ~Scope() { evaluator.caches.pop_back(); }

  private:
    ValueEvaluator &evaluator;
  };

  LogicalResult emitLoop(Value lower, Value upper, Value step, function_ref<LogicalResult(Value)> body);
  LogicalResult emitIf(Value condition, function_ref<LogicalResult()> then,
                       function_ref<LogicalResult()> otherwise = nullptr);

  Value sizeOf(Value tensor, int64_t axis);

  GPUKernelEmitter &emitter;
  ValueEvaluator &evaluator;
  Hoisting &hoisting;
  MemoryAccess &memoryAccess;
  ReductionEmitter &reductions;
  KernelOutputs &kernelOutputs;
  IRMapping &scalars;
  LaunchShape &launchShape;
  ThreadMapping &mapping;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUCOMPONENT_H
