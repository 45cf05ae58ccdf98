// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Accumulators of several contractions of one tile, kept on the stack so that they occupy no registers in the
// K loop of the next.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_ACCUMULATORSPILLING_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_ACCUMULATORSPILLING_H

#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../CPUComponent.h"
#include "../StackMemory.h"

namespace mlir::ad::cpu {

class AccumulatorSpilling : public CPUComponent {
public:
  AccumulatorSpilling(CPUContext &context, ValueSource &evaluator, MemoryAccess &memoryAccess,
                      AccessMaps &maps, ReductionLoops &reductionLoops, StackMemory &stackMemory)
      : CPUComponent(context), evaluator(evaluator), memoryAccess(memoryAccess), maps(maps),
        reductionLoops(reductionLoops), stackMemory(stackMemory) {}

  using TileReductions = SmallVector<std::pair<Value, SmallVector<Position>>>;
  LogicalResult evaluateReductions(ValueRange outputs, ArrayRef<Position> positions);
  Value reload(Value value);

private:
  void collectReductions(Value tensor, ArrayRef<Position> positions, TileReductions &reductions);
  void spill(Value tensor, ArrayRef<Position> positions, unsigned number);

  std::map<std::tuple<unsigned, const void *, int64_t>, Value> spillSlots;
  DenseMap<Value, Value> spilled; // accumulators on the stack, by the value that was stored

  ValueSource &evaluator;
  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  ReductionLoops &reductionLoops;
  StackMemory &stackMemory;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_ACCUMULATORSPILLING_H
