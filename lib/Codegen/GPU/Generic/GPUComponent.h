// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components of a GPU kernel emitter: access to the evaluator, to memory and to the thread
// mapping, index arithmetic, branches and loops.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUCOMPONENT_H

#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Reduction/ReductionEmitter.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "adjoint/Codegen/Kernel/LaunchShape.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad::device {

using namespace codegen;

class GPUKernelEmitter;
class ThreadMapping;

class GPUComponent : public KernelComponent {
public:
  explicit GPUComponent(GPUKernelEmitter &emitter);

protected:
  Value sizeOf(Value tensor, int64_t axis);

  // Arithmetic on indices
  /// Quotient and remainder.
  std::pair<Value, Value> divide(Value number, Value by);
  Value divideUp(Value size, int64_t by);
  Value isBelow(Value index, Value size);
  Value isEqual(Value index, int64_t value);

  // Control flow
  LogicalResult emitIf(Value condition, function_ref<LogicalResult()> then,
                       function_ref<LogicalResult()> otherwise = nullptr) {
    return context.emitIf(condition, then, otherwise);
  }
  /// Without a branch when the condition is a constant.
  LogicalResult emitIfNotConstant(Value condition, function_ref<LogicalResult()> code);
  /// A condition of null always holds.
  LogicalResult emitIfAllowed(Value allowed, function_ref<LogicalResult()> then,
                              function_ref<LogicalResult()> otherwise) {
    return context.emitIfAllowed(allowed, then, otherwise);
  }

  GPUKernelEmitter &emitter;
  ValueSource &evaluator;
  AccessMaps &maps;
  KernelArguments &kernelArguments;
  ReductionLoops &reductionLoops;
  Hoisting &hoisting;
  MemoryAccess &memoryAccess;
  ChainSteps &chainSteps;
  PairwiseTree &tree;
  ReductionEmitter &reductions;
  KernelOutputs &kernelOutputs;
  LaunchShape &launchShape;
  ThreadMapping &mapping;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUCOMPONENT_H
