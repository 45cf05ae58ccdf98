// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters (OrderedWrite.h) without atomics. Each group of threads, a warp or more, owns a part of the
// result: a range of elements along the searched axes, and columns along the axes that all iterations run
// over alike. The threads of a warp look at the indices of 32 iterations at a time, and the group applies
// those that are its own, in ascending order, so that any grid computes the same bits.

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
  /// What a group owns: rows and columns from `lower` to before `upper`, by their numbers, at one position
  /// along the axes on which indices depend.
  struct Part {
    SmallVector<Index> loops; ///< those of the position
    Value lowerRow, upperRow, lowerColumn, upperColumn;
  };
  /// A thread of the warp whose condition holds; `isGiven` is null if there is one for sure.
  struct Vote {
    Value thread, isGiven;
  };
  struct Update {
    Value iteration, row, isGiven;
  };

  LogicalResult emitOutputs() override;
  Value sizeAlong(ArrayRef<unsigned> axes);
  void setIndices(SmallVectorImpl<Index> &loops, ArrayRef<unsigned> axes, Value number);
  LogicalResult emitParts(function_ref<LogicalResult(const Part &)> emitPart);
  LogicalResult emitStart(const Part &part);
  LogicalResult emitUpdates(const Part &part);
  FailureOr<Value> rowOf(const Part &part, Value iteration);
  LogicalResult emitVotes(Value condition, function_ref<LogicalResult(ArrayRef<Vote>)> body);
  LogicalResult emitUpdates(const Part &part, ArrayRef<Update> updates);
  LogicalResult emitColumns(const Part &part, ArrayRef<Update> updates, Value column, int64_t count);

  OrderedWrite write;
  SmallVector<unsigned> reduced;       ///< the loops of the iterations, the last one fastest
  int64_t groupThreads, columnsAtOnce; ///< the latter: of a thread
  Value group, groups, threadInGroup;  ///< numbers of this group, of all groups, and of the thread
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SCATTER_SCATTEREMITTER_H
