// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains whose operands are contiguous along K and transposed in registers.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_REGISTERTRANSPOSE_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_REGISTERTRANSPOSE_H

#include "../../Kernel/Reduction/ChainSteps.h"
#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../Bytes/ByteGroups.h"
#include "../CPUComponent.h"
#include "../Loops/LineAlignment.h"
#include "../Movement/Prefetcher.h"
#include "../StackMemory.h"
#include "DotProducts.h"
#include "ProductGroups.h"
#include "TransposedOperands.h"

namespace mlir::ad::cpu {

class RegisterTranspose : public CPUComponent {
public:
  RegisterTranspose(CPUContext &context, ValueSource &evaluator, LaneValues &laneValues,
                    MemoryAccess &memoryAccess, AccessMaps &maps, ReductionLoops &reductionLoops,
                    ChainSteps &chainSteps, StackMemory &stackMemory, Prefetcher &prefetcher,
                    LineAlignment &lineAlignment, DotProducts &dotProducts,
                    TransposedOperands &transposedOperands, ProductGroups &productGroups,
                    ByteGroups &byteGroups)
      : CPUComponent(context), evaluator(evaluator), laneValues(laneValues), memoryAccess(memoryAccess),
        maps(maps), reductionLoops(reductionLoops), chainSteps(chainSteps), stackMemory(stackMemory),
        prefetcher(prefetcher), lineAlignment(lineAlignment), dotProducts(dotProducts),
        transposedOperands(transposedOperands), productGroups(productGroups), byteGroups(byteGroups) {}

  FailureOr<SmallVector<Value>> transposedChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                ArrayRef<Value> start, Value lower, Value upper);

private:
  FailureOr<Value> loadAlongK(OpOperand *operand, Position position);
  FailureOr<SmallVector<Value>> loadBlock(OpOperand *operand, ArrayRef<Index> loops, Value step,
                                          Value active);
  LogicalResult transposeBlock(OpOperand *operand, ArrayRef<Index> loops, ArrayRef<Value> steps,
                               Value active);
  LogicalResult transposeOperands(linalg::GenericOp generic, ArrayRef<Index> loops, ArrayRef<Value> steps,
                                  Value active);
  FailureOr<SmallVector<Value>> transposedSteps(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                ValueRange accumulators, Value first, int64_t count);
  LogicalResult partialSteps(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                             ArrayRef<size_t> positions, MutableArrayRef<Value> accumulators, Value first,
                             Value count);
  FailureOr<SmallVector<Value>> unalignedChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                               ArrayRef<Value> start, Value lower, Value upper);
  FailureOr<SmallVector<Value>> partialBlock(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                             ValueRange accumulators, Value first, Value count);
  FailureOr<SmallVector<Value>> wholeBlocks(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                            ArrayRef<Value> accumulators, Value lower, Value upper);
  Value stepsToLine(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, Value lower, Value upper);
  bool canRotate(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  FailureOr<SmallVector<Value>> transposedRotating(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops,
                                                   ValueRange accumulators, Value lower, Value upper);
  FailureOr<SmallVector<Value>> transposedUnrolled(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops,
                                                   ValueRange accumulators, Value lower, Value upper);

  ValueSource &evaluator;
  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  ReductionLoops &reductionLoops;
  ChainSteps &chainSteps;
  StackMemory &stackMemory;
  Prefetcher &prefetcher;
  LineAlignment &lineAlignment;
  DotProducts &dotProducts;
  TransposedOperands &transposedOperands;
  ProductGroups &productGroups;
  ByteGroups &byteGroups;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_REGISTERTRANSPOSE_H
