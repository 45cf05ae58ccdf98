// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of few rows and sums of columns whose large operand is read once, in long parts of its
// rows.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_STREAMEDREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_STREAMEDREDUCTIONS_H

#include "../../Kernel/Outputs/ElementStores.h"
#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Reduction/ChainSteps.h"
#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../CPUComponent.h"
#include "../Loops/LaneLoop.h"
#include "PartialResultTrees.h"

namespace mlir::ad::cpu {

class StreamedReductions : public CPUComponent {
public:
  StreamedReductions(CPUContext &context, ValueSource &evaluator, LaneValues &laneValues,
                     MemoryAccess &memoryAccess, AccessMaps &maps, ChainSteps &chainSteps,
                     KernelOutputs &kernelOutputs, ElementStores &stores, LaneLoop &laneLoop,
                     PartialResultTrees &partialTrees)
      : CPUComponent(context), evaluator(evaluator), laneValues(laneValues), memoryAccess(memoryAccess),
        maps(maps), chainSteps(chainSteps), kernelOutputs(kernelOutputs), stores(stores), laneLoop(laneLoop),
        partialTrees(partialTrees) {}

  int64_t streamedColumns(linalg::GenericOp generic);
  LogicalResult emitStreamedReduction(linalg::GenericOp generic, Buffer &result, UnitRange units);

private:
  LogicalResult emitUnit(linalg::GenericOp generic, const CPUNest &nest, Buffer &result,
                         ArrayRef<Position> rows, Value width, Value unit);
  LogicalResult startChains(linalg::GenericOp generic, const Buffer &result, ArrayRef<Position> positions);
  LogicalResult streamSteps(linalg::GenericOp generic, const Buffer &result, ArrayRef<Position> positions,
                            Value first, int64_t count);

  ValueSource &evaluator;
  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  ChainSteps &chainSteps;
  KernelOutputs &kernelOutputs;
  ElementStores &stores;
  LaneLoop &laneLoop;
  PartialResultTrees &partialTrees;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_STREAMEDREDUCTIONS_H
