// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The shape of blocks of a contraction: the axes that are rows, the register tile, and the columns that stay
// in the cache. chooseRegisterTile has the sizes.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_BLOCKSHAPE_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_BLOCKSHAPE_H

#include "../Bytes/ByteProducts.h"
#include "../CPUComponent.h"
#include "TransposedOperands.h"

namespace mlir::ad::cpu {

class BlockShape : public CPUComponent {
public:
  BlockShape(CPUContext &context, TransposedOperands &transposedOperands, ByteProducts &byteProducts)
      : CPUComponent(context), transposedOperands(transposedOperands), byteProducts(byteProducts) {}

  /// The register tile of a reduction, and whether the nest has blocks of columns.
  void chooseBlock(CPUNest &nest);
  int64_t vectorsFor(const CPUNest &nest, int64_t rows);
  int64_t blockColumns(const CPUNest &nest);
  void recordK(ValueRange outputs);

private:
  int64_t rowsToTile(const CPUNest &nest) const;
  SmallVector<int64_t> rowAxesOf(const CPUNest &nest, int64_t laneAxis);

  TransposedOperands &transposedOperands;
  ByteProducts &byteProducts;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_BLOCKSHAPE_H
