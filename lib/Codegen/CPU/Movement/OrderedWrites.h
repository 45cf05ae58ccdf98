// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters: the elements before all updates are copied, then the iterations run in ascending order and update
// the elements that their indices name. Threads own ranges of one axis of the result: each goes through all
// indices, and updates what is its own, so that the order is the same for any number of them.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_ORDEREDWRITES_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_ORDEREDWRITES_H

#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../Loops/LoopNests.h"
#include "adjoint/Dialect/AD/Transforms/OrderedWrite.h"

namespace mlir::ad::cpu {

class OrderedWrites : public CPUComponent {
public:
  OrderedWrites(CPUContext &context, ValueSource &values, MemoryAccess &memoryAccess,
                ReductionLoops &reductionLoops, KernelOutputs &kernelOutputs, LoopNests &loopNests,
                WorkDistribution &distribution)
      : CPUComponent(context), values(values), memoryAccess(memoryAccess), reductionLoops(reductionLoops),
        kernelOutputs(kernelOutputs), loopNests(loopNests), distribution(distribution) {}

  /// The code of a kernel whose only result is `write`.
  LogicalResult emit(OrderedWrite &write);

private:
  int64_t rangeAxis(OrderedWrite &write) const;
  int64_t elementsOfRange(OrderedWrite &write) const;
  /// Whether the memory of the result has the elements that it starts from.
  static bool isTied(OrderedWrite &write) { return isa<BlockArgument>(write.start()); }
  LogicalResult emitRange(OrderedWrite &write, const AxisRange &owned);
  LogicalResult emitStart(OrderedWrite &write, const AxisRange &owned);
  LogicalResult emitUpdates(OrderedWrite &write, ArrayRef<unsigned> loops, const AxisRange &owned,
                            SmallVector<Index> &position);
  LogicalResult emitUpdate(OrderedWrite &write, const AxisRange &owned, ArrayRef<Index> position);
  LogicalResult emitElements(OrderedWrite &write, ArrayRef<Value> indices, ArrayRef<Index> position);

  ValueSource &values;
  MemoryAccess &memoryAccess;
  ReductionLoops &reductionLoops;
  KernelOutputs &kernelOutputs;
  LoopNests &loopNests;
  WorkDistribution &distribution;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_ORDEREDWRITES_H
