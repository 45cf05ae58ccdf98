// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Vectors along the rows of a short last axis, interleaved before they are stored.

#ifndef ADJOINT_LIB_CODEGEN_CPU_SHORTROWS_H
#define ADJOINT_LIB_CODEGEN_CPU_SHORTROWS_H

#include "CPUComponent.h"

namespace mlir::ad::cpu {

class ShortRows : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  int64_t axisOfRows(ArrayRef<int64_t> shape, int64_t columns);
  bool isShortRow(int64_t columns);
  void chooseShortRows(Nest &nest);
  void chooseShortRowsOf(Nest &nest, const Nest &space);
  LogicalResult emitShortRowsAt(ValueRange outputs, const Nest &space, const Position &rows);
  LogicalResult emitShortRows(const Nest &nest, Value lower, Value upper, ArrayRef<Position> positions,
                              Store store, function_ref<LogicalResult(Value)> emitRow);
  void storeInterleaved(const Buffer &destination, ArrayRef<Position> positions, ValueRange values);

  int64_t interleavedColumns =
      1; // of the code being emitted, whose vectors along the rows are stored interleaved

private:
  SmallVector<Position> columnsOf(ArrayRef<Position> rows, int64_t axis, int64_t columns);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_SHORTROWS_H
