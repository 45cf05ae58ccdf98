// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stores of vectors along the rows of a short last axis, which are interleaved; other stores as they are.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_INTERLEAVEDSTORES_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_INTERLEAVEDSTORES_H

#include "../../Kernel/Outputs/ElementStores.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include <map>

namespace mlir::ad::cpu {

class InterleavedStores : public CPUComponent, public ElementStores {
public:
  InterleavedStores(CPUContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess)
      : CPUComponent(context), laneValues(laneValues), memoryAccess(memoryAccess) {}

  void store(const Buffer &buffer, const Position &position, Value value) override {
    memoryAccess.store(buffer, position, value);
  }
  void storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) override {
    if (columnsOfRows > 1)
      return storeInterleaved(destination, positions, values);
    ElementStores::storeAll(destination, positions, values);
  }
  void storeInterleaved(const Buffer &destination, ArrayRef<Position> positions, ValueRange values);
  /// Whether a vector of rows is transposed in registers: its columns are more than half of its lanes.
  bool isTransposed(int64_t columns);
  /// The elements of a column of a vector of rows, if these are transposed; else null.
  Value loadColumn(const Buffer &buffer, const Position &position);
  /// Called at the begin of another vector of rows.
  void forgetColumns() { transposed.clear(); }

  int64_t columnsOfRows = 1; // of the code being emitted, whose vectors along the rows are stored interleaved

private:
  Value pointerAt(const Buffer &buffer, Value base, int64_t offset);
  void storeTransposed(const Buffer &destination, Value base, SmallVector<Value> vectors);
  SmallVector<Value> loadTransposed(const Buffer &buffer, Value base);

  /// Columns of the vector of rows that is being emitted, by block of code, memory and position of the rows.
  std::map<std::tuple<Block *, const void *, std::vector<Index>>, SmallVector<Value>> transposed;

  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_INTERLEAVEDSTORES_H
