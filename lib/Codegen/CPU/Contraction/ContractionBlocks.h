// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions (gemm): loops over cached blocks of columns and over register tiles, whose accumulators stay
// in registers over the whole reduction.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_CONTRACTIONBLOCKS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_CONTRACTIONBLOCKS_H

#include "../Bytes/ByteProducts.h"
#include "../Bytes/ByteRowCopies.h"
#include "../CPUComponent.h"
#include "../Loops/LaneLoop.h"
#include "../Loops/WorkDistribution.h"
#include "../Packing/OperandPacking.h"
#include "../Packing/OperandsToPack.h"
#include "../Packing/PackedPanels.h"
#include "../Packing/RowPanels.h"
#include "FillingTile.h"
#include "RowTiles.h"

namespace mlir::ad::cpu {

class ContractionBlocks : public CPUComponent {
public:
  ContractionBlocks(CPUContext &context, LaneLoop &laneLoop, WorkDistribution &distribution,
                    RowTiles &rowTiles, FillingTile &fillingTile, PackedPanels &panels,
                    OperandPacking &operandPacking, OperandsToPack &operandsToPack,
                    ByteProducts &byteProducts, ByteRowCopies &byteRowCopies, RowPanels &rowPanels)
      : CPUComponent(context), laneLoop(laneLoop), distribution(distribution), rowTiles(rowTiles),
        fillingTile(fillingTile), panels(panels), operandPacking(operandPacking),
        operandsToPack(operandsToPack), byteProducts(byteProducts), byteRowCopies(byteRowCopies),
        rowPanels(rowPanels) {}

  LogicalResult emitBatches(const CPUNest &nest, int64_t axis, Position &outer, UnitRange units, Store store);

private:
  using Columns = std::pair<Value, Value>; // from, to
  LogicalResult emitBlocks(const CPUNest &nest, const Position &outer, UnitRange units, Store store);
  LogicalResult emitBlock(const CPUNest &nest, const Position &outer, Columns columns, UnitRange units,
                          Store store);
  LogicalResult emitBlockWith(SmallVector<PackedOperand> packed, const CPUNest &nest, const Position &outer,
                              Columns columns, UnitRange units, Store store);

  LaneLoop &laneLoop;
  WorkDistribution &distribution;
  RowTiles &rowTiles;
  FillingTile &fillingTile;
  PackedPanels &panels;
  OperandPacking &operandPacking;
  OperandsToPack &operandsToPack;
  ByteProducts &byteProducts;
  ByteRowCopies &byteRowCopies;
  RowPanels &rowPanels;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_CONTRACTIONBLOCKS_H
