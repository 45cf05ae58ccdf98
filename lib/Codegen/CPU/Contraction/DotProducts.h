// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of bf16 by instructions that multiply and add pairs along K.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_DOTPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_DOTPRODUCTS_H

#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../CPUComponent.h"
#include "../Packing/PackedPanels.h"
#include "TransposedOperands.h"

namespace mlir::ad::cpu {

class DotProducts : public CPUComponent {
public:
  DotProducts(CPUContext &context, ValueSource &evaluator, LaneValues &laneValues, MemoryAccess &memoryAccess,
              AccessMaps &maps, TransposedOperands &transposedOperands, PackedPanels &panels)
      : CPUComponent(context), evaluator(evaluator), laneValues(laneValues), memoryAccess(memoryAccess),
        maps(maps), transposedOperands(transposedOperands), panels(panels) {}

  Buffer inPairs(Buffer buffer);
  Value joinPair(Value low, Value high);
  /// Lanes of pairs of an operand that the kernel converts; the last index counts pairs.
  FailureOr<Value> convertPairs(OpOperand *operand, Position position);
  FailureOr<SmallVector<Value>> addDotProduct(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum);
  /// Reports, once, that the contraction uses the permission `mma`.
  void recordUse(linalg::GenericOp generic);

private:
  FailureOr<Value> pairOf(OpOperand *input, ArrayRef<Index> loops, unsigned reducedLoop);

  llvm::SmallPtrSet<Operation *, 2> recorded;

  ValueSource &evaluator;
  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  TransposedOperands &transposedOperands;
  PackedPanels &panels;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_DOTPRODUCTS_H
