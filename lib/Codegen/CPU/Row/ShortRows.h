// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Vectors along the rows of a short last axis.

#ifndef ADJOINT_LIB_CODEGEN_CPU_ROW_SHORTROWS_H
#define ADJOINT_LIB_CODEGEN_CPU_ROW_SHORTROWS_H

#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../CPUComponent.h"
#include "../Movement/InterleavedStores.h"

namespace mlir::ad::cpu {

class ShortRows : public CPUComponent {
public:
  ShortRows(CPUContext &context, ValueSource &evaluator, ReductionLoops &reductionLoops,
            KernelOutputs &kernelOutputs, InterleavedStores &interleavedStores)
      : CPUComponent(context), evaluator(evaluator), reductionLoops(reductionLoops),
        kernelOutputs(kernelOutputs), interleavedStores(interleavedStores) {}

  int64_t axisOfRows(ArrayRef<int64_t> shape, int64_t columns);
  bool isShortRow(int64_t columns);
  void chooseShortRows(CPUNest &nest);
  void chooseShortRowsOf(CPUNest &nest, const CPUNest &space);
  LogicalResult emitShortRowsAt(ValueRange outputs, const CPUNest &space, const Position &rows);
  LogicalResult emitShortRows(const CPUNest &nest, Value lower, Value upper, ArrayRef<Position> positions,
                              Store store, function_ref<LogicalResult(Value)> emitRow);

private:
  SmallVector<Position> columnsOf(ArrayRef<Position> rows, int64_t axis, int64_t columns);

  ValueSource &evaluator;
  ReductionLoops &reductionLoops;
  KernelOutputs &kernelOutputs;
  InterleavedStores &interleavedStores;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_ROW_SHORTROWS_H
