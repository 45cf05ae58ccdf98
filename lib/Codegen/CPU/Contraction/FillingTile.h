// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The first tile of rows of a block, which packs the operands while it computes.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_FILLINGTILE_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_FILLINGTILE_H

#include "../CPUComponent.h"
#include "../Loops/LaneLoop.h"
#include "../Packing/OperandPacking.h"
#include "../Packing/PackedPanels.h"
#include "BlockShape.h"
#include "RowTiles.h"

namespace mlir::ad::cpu {

class FillingTile : public CPUComponent {
public:
  FillingTile(CPUContext &context, LaneLoop &laneLoop, RowTiles &rowTiles, BlockShape &blockShape,
              PackedPanels &panels, OperandPacking &operandPacking)
      : CPUComponent(context), laneLoop(laneLoop), rowTiles(rowTiles), blockShape(blockShape), panels(panels),
        operandPacking(operandPacking) {}

  /// Returns the first row that is left.
  FailureOr<Value> emitFillingTile(const CPUNest &nest, Value lower, Value upper, const Position &outer,
                                   std::pair<Value, Value> columns, MutableArrayRef<PackedOperand> packed,
                                   Store store);

private:
  LogicalResult packOrReadInPlace(const CPUNest &nest, Value lower, Value upper, const Position &outer,
                                  std::pair<Value, Value> columns, MutableArrayRef<PackedOperand> packed,
                                  Store store);
  LogicalResult fillWhileComputing(const CPUNest &nest, Value row, const Position &outer,
                                   std::pair<Value, Value> columns, MutableArrayRef<PackedOperand> packed,
                                   Store store);

  LaneLoop &laneLoop;
  RowTiles &rowTiles;
  BlockShape &blockShape;
  PackedPanels &panels;
  OperandPacking &operandPacking;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_FILLINGTILE_H
