// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies operands of contractions into panels.

#ifndef ADJOINT_LIB_CODEGEN_CPU_PACKING_OPERANDPACKING_H
#define ADJOINT_LIB_CODEGEN_CPU_PACKING_OPERANDPACKING_H

#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../Bytes/BytePanels.h"
#include "../CPUComponent.h"
#include "../Contraction/DotProducts.h"
#include "../Loops/WorkDistribution.h"
#include "PackedPanels.h"

namespace mlir::ad::cpu {

class OperandPacking : public CPUComponent {
public:
  OperandPacking(CPUContext &context, ValueSource &evaluator, LaneValues &laneValues,
                 MemoryAccess &memoryAccess, KernelOutputs &kernelOutputs, WorkDistribution &distribution,
                 DotProducts &dotProducts, PackedPanels &panels, BytePanels &bytePanels)
      : CPUComponent(context), evaluator(evaluator), laneValues(laneValues), memoryAccess(memoryAccess),
        kernelOutputs(kernelOutputs), distribution(distribution), dotProducts(dotProducts), panels(panels),
        bytePanels(bytePanels) {}

  LogicalResult pack(PackedOperand &packed, const Position &outer, Value start, Value end);
  std::optional<PackedOperand> packingOfCopy(Value output);
  LogicalResult emitPacking(const PackedOperand &packed);

private:
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

  ValueSource &evaluator;
  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  KernelOutputs &kernelOutputs;
  WorkDistribution &distribution;
  DotProducts &dotProducts;
  PackedPanels &panels;
  BytePanels &bytePanels;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_PACKING_OPERANDPACKING_H
