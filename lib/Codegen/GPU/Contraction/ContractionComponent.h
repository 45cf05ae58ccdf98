// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components of contraction kernels on GPUs. It offers the parts of the emitter that they
// use: evaluation, memory accesses, thread numbers, branches and barriers.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOMPONENT_H

#include "../Generic/GPUKernelEmitter.h"
#include "ContractionTiles.h"

namespace mlir::ad::device {

class ContractionEmitter;

/// Bytes of a 16-byte `cp.async`, and of a unit of the swizzles.
constexpr int64_t kChunkBytes = 16;

class ContractionComponent : public KernelComponent {
public:
  explicit ContractionComponent(ContractionEmitter &emitter);

protected:
  /// Values computed at a position, valid in the blocks that the current one is nested in.
  class Scope {
  public:
    explicit Scope(ContractionComponent &component) : evaluator(component.evaluator) {
      evaluator.caches.emplace_back();
    }
    ~Scope() { evaluator.caches.pop_back(); }

  private:
    ValueEvaluator &evaluator;
  };

  Type operandType() const { return getElementTypeOrSelf(contraction.operandA->get().getType()); }
  Type accumulatorType() const;

  // Arithmetic on indices
  /// Quotient and remainder.
  std::pair<Value, Value> divide(Value number, Value by);
  Value divideUp(Value size, int64_t by);
  Value isBelow(Value index, Value size);
  Value isEqual(Value index, int64_t value);

  // Control flow
  LogicalResult emitLoop(Value lower, Value upper, Value step, function_ref<LogicalResult(Value)> body);
  LogicalResult emitIf(Value condition, function_ref<LogicalResult()> then,
                       function_ref<LogicalResult()> otherwise = nullptr);
  /// Without a branch when the condition is a constant.
  LogicalResult emitIfNotConstant(Value condition, function_ref<LogicalResult()> code);
  /// A condition of null always holds.
  LogicalResult emitIfAllowed(Value allowed, function_ref<LogicalResult()> then,
                              function_ref<LogicalResult()> otherwise);
  void synchronizeBlock();
  void synchronizeWarp();

  /// The indices of `length` consecutive elements, for vectorized accesses; the first is a multiple of it.
  SmallVector<Value> consecutiveIndices(Value first, int64_t length);
  /// The address of a byte of shared memory.
  Value sharedPointer(Value byte);

  ContractionEmitter &emitter;
  const Contraction &contraction;
  const ContractionTile &tile;
  ValueEvaluator &evaluator;
  MemoryAccess &memoryAccess;
  ReductionEmitter &reductions;
  KernelOutputs &kernelOutputs;
  LaunchShape &launch;
  Value &threadInBlock, &lane; // of the thread: its number in the block, and in its warp
  Value &blockId, &gridBlocks; // number of the block in the grid, and how many there are
  Value &shared;               // start of shared memory
  bool &perThread;             // the threads of a warp compute different values
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONCOMPONENT_H
