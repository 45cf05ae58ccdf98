// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands of contractions in the order in which tiles read them.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_OPERANDPACKING_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_OPERANDPACKING_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class OperandPacking : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  SmallVector<PackedOperand> packedOperandsOf(const Nest &nest, int64_t columns);
  Value panelElements(const PackedOperand &packed);
  Value fitsPanels(ArrayRef<PackedOperand> packed);
  Value scratch(Type memory, int64_t elements);
  /// Bytes that copies of operands may still take of the stack of a thread.
  int64_t scratchLeft() const;
  Value loadPacked(const PackedOperand &packed, ArrayRef<Index> loops);
  void fillPacked(PackedOperand &packed, ArrayRef<Index> loops, Value value);
  bool canFill(const PackedOperand &packed);
  FailureOr<Value> emitFillingTile(const Nest &nest, Value lower, Value upper, const Position &outer,
                                   std::pair<Value, Value> columns, MutableArrayRef<PackedOperand> packed,
                                   Store store);
  LogicalResult pack(PackedOperand &packed, const Position &outer, Value start, Value end);
  Value pointerToPacked(const PackedOperand &packed, Value indexK, Value column);
  Position operandPosition(const PackedOperand &packed, const Position &outer, Index indexK, Index column);
  std::optional<PackedOperand> packingOfCopy(Value output);
  LogicalResult emitPacking(const PackedOperand &packed);
  Value lanesBelow(Value count);
  DenseMap<OpOperand *, PackedOperand> packedOperands;

private:
  int64_t scratchUsed = 0; // by all code of the kernel
  LogicalResult packOrReadInPlace(const Nest &nest, Value lower, Value upper, const Position &outer,
                                  std::pair<Value, Value> columns, MutableArrayRef<PackedOperand> packed,
                                  Store store);
  LogicalResult fillWhileComputing(const Nest &nest, Value row, const Position &outer,
                                   std::pair<Value, Value> columns, MutableArrayRef<PackedOperand> packed,
                                   Store store);
  bool findAxes(PackedOperand &packed, unsigned loopK, const Nest &nest);
  std::optional<PackedOperand> packingOf(OpOperand *operand, unsigned loopK, const Nest &nest);
  Value packedIndex(const PackedOperand &packed, Value indexK, Value column);
  Value packedPointer(const PackedOperand &packed, ArrayRef<Index> loops);
  bool canPrefetch(const PackedOperand &packed);
  Buffer elementsOf(const PackedOperand &packed);
  FailureOr<Value> loadElements(const PackedOperand &packed, const Buffer &buffer, const Position &position);
  LogicalResult fillPanels(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                           Value start, Value end);
  LogicalResult fillTransposed(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                               Value start, Value end);
  LogicalResult fillStraight(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                             Value start, Value end);
  Value groupsOfK(const PackedOperand &packed, const Buffer &buffer);
  LogicalResult packStraight(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                             Value indexK, Value column, Value end);
  LogicalResult packTransposed(const PackedOperand &packed, Buffer buffer, const Position &outer,
                               Value indexK, Value column, Value end);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_OPERANDPACKING_H
