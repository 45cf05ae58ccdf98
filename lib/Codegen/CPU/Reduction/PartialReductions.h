// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions that threads divide: partial results of blocks of the order, and their memory.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALREDUCTIONS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class PartialReductions : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  bool isDivisible(linalg::GenericOp generic);
  FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp generic, ArrayRef<Value> identities,
                                            ArrayRef<Position> positions, BlockCode block,
                                            int64_t blocksPerLeaf);
  int64_t threadsForPartials(ArrayRef<linalg::GenericOp> reductions);
  SmallVector<linalg::GenericOp> divisibleReductions(ValueRange outputs);
  Value bindPartialResults(ArrayRef<linalg::GenericOp> reductions);
  LogicalResult emitPartialReductions(ArrayRef<linalg::GenericOp> reductions);
  SmallVector<Value> emitPartialSizes(ArrayRef<linalg::GenericOp> reductions);
  int64_t blocksOfPartial(linalg::GenericOp generic);
  Value addressOfPartial(const PartialResults &partial, const Buffer &result);
  DenseMap<Operation *, PartialResults> partialResults;
  Value memory; // of all partial results; null in the function that computes their sizes

private:
  int64_t tilesOfResult(const Nest &nest);
  bool isReadInPlace(OpOperand &operand, const Nest &nest);
  bool isDeep(const Nest &nest);
  LogicalResult emitPartialBlocks(linalg::GenericOp generic, Nest &nest, Buffer &result, UnitRange units);
  LogicalResult emitPartialReduction(linalg::GenericOp generic, UnitRange units);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALREDUCTIONS_H
