// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over the lanes of short rows, vectorized over rows.

#ifndef ADJOINT_LIB_CODEGEN_CPU_ROW_ROWREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_ROW_ROWREDUCTIONS_H

#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/Hoisting.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../CPUComponent.h"
#include "../Contraction/TransposedOperands.h"
#include "../Movement/InterleavedStores.h"
#include "../Reduction/LaneAccumulators.h"
#include "../StackMemory.h"

namespace mlir::ad::cpu {

class RowReductions : public CPUComponent {
public:
  RowReductions(CPUContext &context, ValueSource &evaluator, LaneValues &laneValues,
                MemoryAccess &memoryAccess, ReductionLoops &reductionLoops, Hoisting &hoisting,
                StackMemory &stackMemory, InterleavedStores &interleavedStores,
                LaneAccumulators &laneAccumulators, TransposedOperands &transposedOperands)
      : CPUComponent(context), evaluator(evaluator), laneValues(laneValues), memoryAccess(memoryAccess),
        reductionLoops(reductionLoops), hoisting(hoisting), stackMemory(stackMemory),
        interleavedStores(interleavedStores), laneAccumulators(laneAccumulators),
        transposedOperands(transposedOperands) {}

  bool vectorizesRows(linalg::GenericOp generic);
  FailureOr<Value> reduceRows(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity);

private:
  FailureOr<Value> reduceColumns(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity);
  bool rowsAreContiguous(linalg::GenericOp generic, ArrayRef<Index> loops, int64_t size);
  FailureOr<SmallVector<Value>> lanesOfRows(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                            int64_t size);
  FailureOr<SmallVector<Value>> lanesOfContiguousRows(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                      Value identity, int64_t size);
  FailureOr<SmallVector<Value>> lanesOfRowsInLoop(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                  Value identity, int64_t size);
  FailureOr<Value> lanesOfRow(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value row,
                              int64_t size);
  Value joinLanes(Operation *join, SmallVector<Value> vectors, int64_t width);

  ValueSource &evaluator;
  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  ReductionLoops &reductionLoops;
  Hoisting &hoisting;
  StackMemory &stackMemory;
  InterleavedStores &interleavedStores;
  LaneAccumulators &laneAccumulators;
  TransposedOperands &transposedOperands;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_ROW_ROWREDUCTIONS_H
