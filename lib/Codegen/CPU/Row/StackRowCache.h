// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values of a row that several loops along it need, cached on the stack.

#ifndef ADJOINT_LIB_CODEGEN_CPU_ROW_STACKROWCACHE_H
#define ADJOINT_LIB_CODEGEN_CPU_ROW_STACKROWCACHE_H

#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/Hoisting.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../StackMemory.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::ad::cpu {

class StackRowCache : public CPUComponent {
public:
  StackRowCache(CPUContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess,
                ReductionLoops &reductionLoops, Hoisting &hoisting, StackMemory &stackMemory)
      : CPUComponent(context), laneValues(laneValues), memoryAccess(memoryAccess),
        reductionLoops(reductionLoops), hoisting(hoisting), stackMemory(stackMemory) {}

  struct SavedRow {
    Value pointer;
    bool stored = false; // by the loop that is being emitted
    bool filled = false; // by a loop before
  };
  /// Begins a row: counts its passes, and chooses the values to save, none unless `maySave`.
  void chooseSaved(const RowOutputs &outputs, const CPUNest &space, const Position &row, bool maySave);
  Value loadSaved(Value tensor, const Position &position);
  void storeSaved(Value tensor, const Position &position, Value value);
  void endPass();
  bool isOnRow(const Position &position);

  llvm::MapVector<Value, SavedRow> saved; // empty outside of rows
  int64_t longest = 0;                    // the elements of a row for which `saved` has room
  Position savedRow;                      // the row that `saved` belongs to
  int64_t passesLeft = 0;                 // sums along the row that are still to be made

private:
  llvm::MapVector<Value, int64_t> countPasses(const RowOutputs &outputs, const Position &row);
  void collectPass(Value tensor, const Position &position, Visited &visited, SmallVectorImpl<Value> &values,
                   SmallVectorImpl<std::pair<Value, Position>> &reductions);

  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  ReductionLoops &reductionLoops;
  Hoisting &hoisting;
  StackMemory &stackMemory;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_ROW_STACKROWCACHE_H
