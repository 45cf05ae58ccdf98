// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Padded tensors that are not written: an element of the padding is the padding's number, any other one is
// that of the tensor inside. Convolutions read their inputs so (WindowLoads.h).

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_PADDEDINPUTS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_PADDEDINPUTS_H

#include "../../Kernel/Values/LaneValues.h"
#include "../StackMemory.h"

namespace mlir::ad::cpu {

/// An argument with zeros around it along axes before the last one, or a part of that.
struct PaddedInput {
  Buffer inside;
  SmallVector<int64_t>
      low; ///< the first element of the argument, for each axis; negative where a part begins after it
  SmallVector<bool> isPaddedAlong;
  Value zeros; ///< a pointer to as many zeros as the last axis has elements
};

class PaddedInputs : public CPUComponent {
public:
  PaddedInputs(CPUContext &context, LaneValues &laneValues, StackMemory &stackMemory)
      : CPUComponent(context), laneValues(laneValues), stackMemory(stackMemory) {}

  /// Makes the zeros that the padded inputs of the kernel's convolutions share.
  void bind();
  /// Null for other tensors.
  const PaddedInput *find(Value tensor) const;

  /// A position inside of a padded tensor, and whether the element at the given one is there: null if all
  /// are. If not, the former is one of another element.
  std::pair<Position, Value> positionInside(tensor::InsertSliceOp padding, const Position &position);
  /// The element where it is inside, and the number elsewhere.
  Value choose(Value isInside, Value element, Value number);

private:
  void bindPart(Value tensor, PaddedInput input, ArrayRef<int64_t> shape);
  Value zerosFor(const Buffer &inside);

  LaneValues &laneValues;
  StackMemory &stackMemory;
  DenseMap<Value, PaddedInput> padded;
};

/// The padding that makes the tensor: a tensor inside of one that has one number everywhere. Null for others.
tensor::InsertSliceOp paddingOf(Value tensor);

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_PADDEDINPUTS_H
