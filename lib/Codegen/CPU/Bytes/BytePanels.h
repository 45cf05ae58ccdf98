// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Panels of groups of four i8.

#ifndef ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEPANELS_H
#define ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEPANELS_H

#include "../../Kernel/Values/LaneValues.h"
#include "../CPUComponent.h"
#include "../Packing/PackedPanels.h"
#include "ByteGroups.h"

namespace mlir::ad::cpu {

class BytePanels : public CPUComponent {
public:
  BytePanels(CPUContext &context, LaneValues &laneValues, PackedPanels &panels, ByteGroups &byteGroups)
      : CPUComponent(context), laneValues(laneValues), panels(panels), byteGroups(byteGroups) {}

  void fillBytePanels(const PackedOperand &packed, const Buffer &buffer, const Position &outer, Value start,
                      Value end);

private:
  void packBytesTransposed(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                           Value column, Value end);
  void storeGroup(const PackedOperand &packed, Value number, Value column, Value group);

  LaneValues &laneValues;
  PackedPanels &panels;
  ByteGroups &byteGroups;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEPANELS_H
