// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions (gemm): loops over cached blocks of columns and over register tiles, whose accumulators stay
// in registers over the whole reduction. chooseRegisterTile has the sizes.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_CONTRACTIONBLOCKS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_CONTRACTIONBLOCKS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class ContractionBlocks : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  void chooseBlock(Nest &nest);
  int64_t vectorsFor(const Nest &nest, int64_t rows);
  int64_t blockColumns(const Nest &nest);
  Position rowPosition(const Nest &nest, const Position &outer, Value base, int64_t offset, int64_t aligned);
  void recordK(ValueRange outputs);
  LogicalResult emitBatches(const Nest &nest, int64_t axis, Position &outer, UnitRange units, Store store);
  LogicalResult emitRowTiles(const Nest &nest, Value lower, Value upper, const Position &outer, Store inRows);

private:
  SmallVector<int64_t> rowAxesOf(const Nest &nest, int64_t laneAxis);
  std::pair<Value, Value> evenTiles(const Nest &nest, int64_t size, Value count);
  LogicalResult emitBlocks(const Nest &nest, const Position &outer, UnitRange units, Store store);
  using Columns = std::pair<Value, Value>; // from, to
  LogicalResult emitBlock(const Nest &nest, const Position &outer, Columns columns, UnitRange units,
                          Store store);
  LogicalResult emitBlockWith(SmallVector<PackedOperand> packed, const Nest &nest, const Position &outer,
                              Columns columns, UnitRange units, Store store);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_CONTRACTIONBLOCKS_H
