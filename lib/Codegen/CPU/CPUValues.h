// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values on CPUs: elements of tensors that are in registers or on the stack already are found there.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CPUVALUES_H
#define ADJOINT_LIB_CODEGEN_CPU_CPUVALUES_H

#include "../Kernel/Values/ValueEvaluator.h"
#include "Contraction/AccumulatorSpilling.h"
#include "Contraction/PaddedInputs.h"
#include "Contraction/WindowLoads.h"
#include "Movement/FlatBroadcast.h"
#include "Packing/RowPanels.h"
#include "Reduction/CPUReductions.h"

namespace mlir::ad::cpu {

class CPUValues : public ValueEvaluator {
public:
  CPUValues(CPUContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess, AccessMaps &maps,
            CPUReductions &reductions, InterleavedStores &interleavedStores, StackRowCache &rowCache,
            PackedPanels &panels, TransposedOperands &transposedOperands, FlatBroadcast &flatBroadcast,
            AccumulatorSpilling &spilling, WindowLoads &windowLoads, PaddedInputs &paddedInputs,
            RowPanels &rowPanels)
      : ValueEvaluator(context, laneValues, memoryAccess, maps, reductions),
        interleavedStores(interleavedStores), rowCache(rowCache), panels(panels),
        transposedOperands(transposedOperands), flatBroadcast(flatBroadcast), spilling(spilling),
        windowLoads(windowLoads), paddedInputs(paddedInputs), rowPanels(rowPanels) {}

  LogicalResult prepare(ValueRange outputs, ArrayRef<Position> positions) override {
    return spilling.evaluateReductions(outputs, positions);
  }

private:
  FailureOr<Value> compute(Value tensor, const Position &position) override;
  FailureOr<Value> computePadded(tensor::InsertSliceOp padding, const Position &position);
  FailureOr<Value> operandValue(OpOperand *input, ArrayRef<Index> loops) override;
  Position positionOf(OpOperand *input, ArrayRef<Index> loops) override {
    return flat ? flatBroadcast.flatPosition(input, loops) : ValueEvaluator::positionOf(input, loops);
  }
  Value reload(Value value) override { return spilling.reload(value); }

  InterleavedStores &interleavedStores;
  StackRowCache &rowCache;
  PackedPanels &panels;
  TransposedOperands &transposedOperands;
  FlatBroadcast &flatBroadcast;
  AccumulatorSpilling &spilling;
  WindowLoads &windowLoads;
  PaddedInputs &paddedInputs;
  RowPanels &rowPanels;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CPUVALUES_H
