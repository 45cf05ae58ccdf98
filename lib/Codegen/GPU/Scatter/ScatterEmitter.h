// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters (OrderedWrite.h) without atomics. Each warp owns a part of the result: a range of elements along
// the searched axes, and columns along the axes that all iterations run over alike. Its threads look at the
// indices of 32 iterations at a time, and update what is the warp's own, one iteration after another, so that
// any grid computes the same bits.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SCATTER_SCATTEREMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_SCATTER_SCATTEREMITTER_H

#include "../Generic/GPUKernelEmitter.h"
#include "adjoint/Dialect/AD/Transforms/OrderedWrite.h"

namespace mlir::ad::device {

class ScatterEmitter : public GPUKernelEmitter {
public:
  ScatterEmitter(KernelOp kernel, FunctionOpInterface function, const OrderedWrite &write)
      : GPUKernelEmitter(kernel, function), write(write) {}

private:
  /// What a warp owns: rows and columns from `lower` to before `upper`, by their numbers, at one position
  /// along the axes on which indices depend.
  struct Part {
    SmallVector<Index> loops; ///< those of the position
    Value lowerRow, upperRow, lowerColumn, upperColumn;
  };

  LogicalResult emitOutputs() override;
  Value sizeAlong(ArrayRef<unsigned> axes);
  void setIndices(SmallVectorImpl<Index> &loops, ArrayRef<unsigned> axes, Value number);
  LogicalResult emitParts(function_ref<LogicalResult(const Part &)> emitPart);
  LogicalResult emitStart(const Part &part);
  LogicalResult emitUpdates(const Part &part);
  FailureOr<Value> rowOf(const Part &part, Value iteration);
  LogicalResult emitUpdate(const Part &part, Value iteration);
  LogicalResult emitVotes(Value condition, function_ref<LogicalResult(Value thread)> body);
  LogicalResult emitColumns(ArrayRef<Index> iteration, Value column, int64_t count);

  OrderedWrite write;
  SmallVector<unsigned> reduced; ///< the loops of the iterations, the last one fastest
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SCATTER_SCATTEREMITTER_H
