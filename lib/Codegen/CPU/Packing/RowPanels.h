// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of the rows of a register tile, for operands of contractions that are contiguous along the rows,
// such as the left operand of a gradient by weights. In place, a step along K reads the elements of a tile's
// rows from a cache line, and often a page, of its own.

#ifndef ADJOINT_LIB_CODEGEN_CPU_PACKING_ROWPANELS_H
#define ADJOINT_LIB_CODEGEN_CPU_PACKING_ROWPANELS_H

#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../Contraction/ProductGroups.h"
#include "../StackMemory.h"

namespace mlir::ad::cpu {

class RowPanels : public CPUComponent {
public:
  RowPanels(CPUContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess, AccessMaps &maps,
            StackMemory &stackMemory, ProductGroups &productGroups)
      : CPUComponent(context), laneValues(laneValues), memoryAccess(memoryAccess), maps(maps),
        stackMemory(stackMemory), productGroups(productGroups) {}

  /// Copies the rows of a tile of the nest, which the code that `tile` emits reads.
  LogicalResult withCopies(const CPUNest &nest, const Position &outer, ArrayRef<Position> rows,
                           function_ref<LogicalResult()> tile);
  /// An element of a copied row; null for others.
  Value load(OpOperand *input, ArrayRef<Index> loops);

private:
  /// [k, row]: the rows of a tile fill a vector.
  struct Panel {
    Buffer buffer;
    unsigned loopK, loopOfRows;
    Value firstK;            // null: 0
    SmallVector<Value> rows; // their indices
  };
  std::optional<unsigned> loopToCopyAlong(OpOperand *operand, const CPUNest &nest);
  bool isWorthCopying(OpOperand *operand, const CPUNest &nest, int64_t sizeK);
  LogicalResult copy(OpOperand *operand, const CPUNest &nest, const Position &outer, const Panel &panel);

  DenseMap<OpOperand *, Panel> panels; // of the tile that is being emitted
  DenseMap<OpOperand *, Value> memory; // of the panels of all tiles

  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  StackMemory &stackMemory;
  ProductGroups &productGroups;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_PACKING_ROWPANELS_H
