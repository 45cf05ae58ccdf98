// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of one thread, unrolled so that the loads of the next elements are in flight during its additions.
// Neighbours in memory are loaded as vectors.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_UNROLLEDCHAINS_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_UNROLLEDCHAINS_H

#include "../../Kernel/Reduction/ReductionChains.h"

namespace mlir::ad::device {

class GPUKernelEmitter;

class UnrolledChains final : public codegen::ReductionChains {
public:
  UnrolledChains(GPUKernelEmitter &emitter, codegen::Hoisting &hoisting, codegen::ChainSteps &steps,
                 codegen::ReductionLoops &loops);

  /// As `chain`, of one position. `lower` is a multiple of `part`, or there is no iteration.
  FailureOr<SmallVector<Value>> unrolled(linalg::GenericOp reduction, ArrayRef<codegen::Index> loops,
                                         ArrayRef<Value> start, Value lower, Value upper, int64_t part);

private:
  /// Chains of kernels with few threads are unrolled; with many, other threads compute during a load.
  FailureOr<SmallVector<Value>> hoistedChain(linalg::GenericOp reduction,
                                             ArrayRef<SmallVector<codegen::Index>> loops,
                                             ArrayRef<Value> start, Value lower, Value upper) override;
  FailureOr<SmallVector<Value>> unrolledAsFits(linalg::GenericOp reduction, ArrayRef<codegen::Index> loops,
                                               ArrayRef<Value> start, Value lower, Value upper, int64_t part);
  FailureOr<SmallVector<Value>> unrolledBy(int64_t factor, int64_t vector, linalg::GenericOp reduction,
                                           ArrayRef<codegen::Index> loops, ArrayRef<Value> start, Value lower,
                                           Value upper);
  int64_t vectorLength(int64_t part);
  bool hasFewThreads();

  GPUKernelEmitter &emitter;
  codegen::ReductionLoops &reductionLoops;
  int64_t copies = 1; ///< how often the steps that are being emitted are unrolled
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_UNROLLEDCHAINS_H
