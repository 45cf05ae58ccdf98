// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Panels of packed operands, in the order in which tiles read them: the panel of a column, then k, then the
// column in the panel.

#ifndef ADJOINT_LIB_CODEGEN_CPU_PACKING_PACKEDPANELS_H
#define ADJOINT_LIB_CODEGEN_CPU_PACKING_PACKEDPANELS_H

#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class PackedPanels : public CPUComponent {
public:
  PackedPanels(CPUContext &context, MemoryAccess &memoryAccess, AccessMaps &maps)
      : CPUComponent(context), memoryAccess(memoryAccess), maps(maps) {}

  Value panelElements(const PackedOperand &packed);
  Value fitsPanels(ArrayRef<PackedOperand> packed);
  Value loadPacked(const PackedOperand &packed, ArrayRef<Index> loops);
  void fillPacked(PackedOperand &packed, ArrayRef<Index> loops, Value value);
  bool canPrefetch(const PackedOperand &packed);
  bool canFill(const PackedOperand &packed);
  Value pointerToPacked(const PackedOperand &packed, Value indexK, Value column);
  Position operandPosition(const PackedOperand &packed, const Position &outer, Index indexK, Index column);
  Buffer elementsOf(const PackedOperand &packed);

  DenseMap<OpOperand *, PackedOperand> operands; // of the block that is being emitted

private:
  Buffer flatElements(const PackedOperand &packed, const Buffer &whole);
  Value packedIndex(const PackedOperand &packed, Value indexK, Value column);
  Value packedPointer(const PackedOperand &packed, ArrayRef<Index> loops);

  MemoryAccess &memoryAccess;
  AccessMaps &maps;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_PACKING_PACKEDPANELS_H
