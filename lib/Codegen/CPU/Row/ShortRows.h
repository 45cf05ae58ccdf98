// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Vectors along the rows of a short last axis, interleaved before they are stored.

#ifndef ADJOINT_LIB_CODEGEN_CPU_ROW_SHORTROWS_H
#define ADJOINT_LIB_CODEGEN_CPU_ROW_SHORTROWS_H

#include "../CPUComponent.h"

#include <map>

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
  /// The elements of a column of a vector of rows, if these are transposed; else null.
  Value loadColumn(const Buffer &buffer, const Position &position);

  int64_t interleavedColumns =
      1; // of the code being emitted, whose vectors along the rows are stored interleaved

private:
  SmallVector<Position> columnsOf(ArrayRef<Position> rows, int64_t axis, int64_t columns);
  bool isTransposed(int64_t columns);
  Value pointerAt(const Buffer &buffer, Value base, int64_t offset);
  void storeTransposed(const Buffer &destination, Value base, SmallVector<Value> vectors);
  SmallVector<Value> loadTransposed(const Buffer &buffer, Value base);

  /// Columns of the vector of rows that is being emitted, by block of code, memory and position of the rows.
  std::map<std::tuple<Block *, const void *, std::vector<Index>>, SmallVector<Value>> transposed;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_ROW_SHORTROWS_H
