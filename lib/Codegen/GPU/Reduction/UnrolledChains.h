// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of one thread, unrolled so that the loads of the next elements are in flight during its additions.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_UNROLLEDCHAINS_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_UNROLLEDCHAINS_H

#include "../../Kernel/Reduction/ReductionChains.h"

namespace mlir::ad::device {

class GPUKernelEmitter;

class UnrolledChains final : public codegen::ReductionChains {
public:
  UnrolledChains(GPUKernelEmitter &emitter, codegen::Hoisting &hoisting, codegen::ChainSteps &steps,
                 codegen::ReductionLoops &loops);

  /// As `chain`, of one position.
  FailureOr<SmallVector<Value>> unrolled(linalg::GenericOp reduction, ArrayRef<codegen::Index> loops,
                                         ArrayRef<Value> start, Value lower, Value upper);

private:
  /// Chains of kernels with few threads are unrolled; with many, other threads compute during a load.
  FailureOr<SmallVector<Value>> hoistedChain(linalg::GenericOp reduction,
                                             ArrayRef<SmallVector<codegen::Index>> loops,
                                             ArrayRef<Value> start, Value lower, Value upper) override;
  FailureOr<SmallVector<Value>> unrolledAsFits(linalg::GenericOp reduction, ArrayRef<codegen::Index> loops,
                                               ArrayRef<Value> start, Value lower, Value upper);
  FailureOr<SmallVector<Value>> unrolledBy(int64_t factor, linalg::GenericOp reduction,
                                           ArrayRef<codegen::Index> loops, ArrayRef<Value> start, Value lower,
                                           Value upper);
  bool hasFewThreads();

  GPUKernelEmitter &emitter;
  codegen::ReductionLoops &reductionLoops;
  int64_t copies = 1; ///< how often the steps that are being emitted are unrolled
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_UNROLLEDCHAINS_H
