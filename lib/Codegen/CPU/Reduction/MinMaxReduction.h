// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The largest or smallest element of a range, by whole vectors.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_MINMAXREDUCTION_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_MINMAXREDUCTION_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class MinMaxReduction : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  struct Range {
    Value lower, upper, step;
  };
  bool isPlainMinMax(linalg::GenericOp generic);
  /// The largest or smallest element of the range, of which one step takes an element for each lane;
  /// `exactly` emits the code that decides about NaN and zeros.
  FailureOr<Value> minMaxOfLanes(linalg::GenericOp generic, ArrayRef<Index> loops, const Range &range,
                                 Value start, llvm::function_ref<FailureOr<Value>()> exactly);

private:
  class Bits;
  FailureOr<SmallVector<Value>> compare(linalg::GenericOp generic, ArrayRef<Index> loops, Value at,
                                        ValueRange before, Bits &bits);
  FailureOr<SmallVector<Value>> compareAll(linalg::GenericOp generic, ArrayRef<Index> loops,
                                           const Range &range, Value start);
  Value better(linalg::GenericOp generic, Value value, Value best);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_MINMAXREDUCTION_H
