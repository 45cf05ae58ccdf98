// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The largest or smallest element of a range, by whole vectors.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_MINMAXREDUCTION_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_MINMAXREDUCTION_H

#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../CPUComponent.h"
#include "LaneAccumulators.h"

namespace mlir::ad::cpu {

class MinMaxReduction : public CPUComponent {
public:
  MinMaxReduction(CPUContext &context, ValueSource &evaluator, LaneValues &laneValues, AccessMaps &maps,
                  ReductionLoops &reductionLoops, LaneAccumulators &laneAccumulators)
      : CPUComponent(context), evaluator(evaluator), laneValues(laneValues), maps(maps),
        reductionLoops(reductionLoops), laneAccumulators(laneAccumulators) {}

  struct Range {
    Value lower, upper;
  };
  bool isPlainMinMax(linalg::GenericOp generic);
  /// The largest or smallest element of the range; `exactly` emits the code that decides about NaN and zeros.
  FailureOr<Value> minMaxOfChunk(linalg::GenericOp generic, ArrayRef<Index> loops, const Range &range,
                                 Value identity, llvm::function_ref<FailureOr<Value>()> exactly);

private:
  class Bits;
  bool isCheap(Value tensor);
  FailureOr<SmallVector<Value>> compare(linalg::GenericOp generic, ArrayRef<Index> loops, Value at,
                                        ValueRange before, Bits &bits);
  FailureOr<SmallVector<Value>> compareAll(linalg::GenericOp generic, ArrayRef<Index> loops,
                                           const Range &range, Value start);
  Value better(linalg::GenericOp generic, Value value, Value best);

  ValueSource &evaluator;
  LaneValues &laneValues;
  AccessMaps &maps;
  ReductionLoops &reductionLoops;
  LaneAccumulators &laneAccumulators;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_MINMAXREDUCTION_H
