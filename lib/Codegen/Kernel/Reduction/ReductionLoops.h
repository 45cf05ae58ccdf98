// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The loops of reductions: their sizes, their indices from one running index, and how the order of the kernel
// divides them.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONLOOPS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONLOOPS_H

#include "../KernelArguments.h"
#include "../Values/LaneValues.h"

namespace mlir::ad::codegen {

class ReductionLoops : public KernelComponent {
public:
  ReductionLoops(KernelContext &context, LaneValues &laneValues, KernelArguments &arguments)
      : KernelComponent(context), laneValues(laneValues), arguments(arguments) {}

  Value sizeOf(linalg::GenericOp generic, unsigned dim);
  /// The number of elements that each result reduces.
  Value total(linalg::GenericOp generic);
  /// Sets the reduced loops from one running index, the last loop fastest.
  void setIndex(linalg::GenericOp generic, SmallVectorImpl<Index> &loops, const Index &linear);
  /// The size of the last of several reduced loops, which a run goes along; null if a single loop is reduced.
  Value lengthOfRuns(linalg::GenericOp generic);
  /// Sets the reduced loops at an element of a run.
  void setIndexInRun(linalg::GenericOp generic, SmallVectorImpl<Index> &loops, Value run, Value element);
  bool usesLanes(linalg::GenericOp generic);
  /// How many elements each result of short rows reduces; nothing if the program does not say, or for long
  /// rows.
  std::optional<int64_t> elementsOfShortRow(linalg::GenericOp generic);
  /// Whether vector code reduces several rows in parallel, one in each lane.
  bool vectorizesRows(linalg::GenericOp generic);

private:
  /// Sets these loops from one running index.
  void setIndices(linalg::GenericOp generic, SmallVectorImpl<Index> &loops, ArrayRef<unsigned> dims,
                  const Index &linear);

  LaneValues &laneValues;
  KernelArguments &arguments;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONLOOPS_H
