// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Partial results of a reduction: nodes of its order's tree, one value for each accumulator.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_JOINEDPARTS_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_JOINEDPARTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::device {

class GPUKernelEmitter;

/// What takes part in no join: every join leaves the other part unchanged.
SmallVector<Value> absentParts(GPUKernelEmitter &emitter, linalg::GenericOp reduction,
                               ArrayRef<Value> identities);
/// Two adjacent parts, the left one first.
SmallVector<Value> joinParts(GPUKernelEmitter &emitter, linalg::GenericOp reduction, ValueRange left,
                             ValueRange right);
/// The parts of so many adjacent threads, a power of two; adjacent ones are joined first, as in the tree.
/// Each of these threads gets the result.
SmallVector<Value> joinThreads(GPUKernelEmitter &emitter, linalg::GenericOp reduction,
                               SmallVector<Value> parts, int64_t threads);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_JOINEDPARTS_H
