// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operands of contractions are packed.

#ifndef ADJOINT_LIB_CODEGEN_CPU_PACKING_OPERANDSTOPACK_H
#define ADJOINT_LIB_CODEGEN_CPU_PACKING_OPERANDSTOPACK_H

#include "../Bytes/ByteProducts.h"
#include "../CPUComponent.h"
#include "../Contraction/ProductGroups.h"
#include "../Contraction/TransposedOperands.h"
#include "../StackMemory.h"
#include "PackedPanels.h"

namespace mlir::ad::cpu {

class OperandsToPack : public CPUComponent {
public:
  OperandsToPack(CPUContext &context, StackMemory &stackMemory, TransposedOperands &transposedOperands,
                 ProductGroups &productGroups, PackedPanels &panels, ByteProducts &byteProducts)
      : CPUComponent(context), stackMemory(stackMemory), transposedOperands(transposedOperands),
        productGroups(productGroups), panels(panels), byteProducts(byteProducts) {}

  /// Those of a block of so many columns, with memory for their panels.
  SmallVector<PackedOperand> packedOperandsOf(const CPUNest &nest, int64_t columns);

private:
  bool findAxes(PackedOperand &packed, unsigned loopK, const CPUNest &nest);
  std::optional<PackedOperand> flatPackingOf(OpOperand *operand, ArrayRef<unsigned> reduced,
                                             const CPUNest &nest);
  std::optional<PackedOperand> packingOf(OpOperand *operand, unsigned loopK, const CPUNest &nest);

  StackMemory &stackMemory;
  TransposedOperands &transposedOperands;
  ProductGroups &productGroups;
  PackedPanels &panels;
  ByteProducts &byteProducts;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_PACKING_OPERANDSTOPACK_H
