// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands that are contiguous along K, of which tiles transpose square blocks in registers.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_TRANSPOSEDOPERANDS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_TRANSPOSEDOPERANDS_H

#include "../../Kernel/Values/AccessMaps.h"
#include "../CPUComponent.h"
#include "../Packing/PackedPanels.h"
#include "ProductGroups.h"
#include <map>

namespace mlir::ad::cpu {

/// The only loop that the generic reduces over.
std::optional<unsigned> singleReduction(linalg::GenericOp generic);

class TransposedOperands : public CPUComponent {
public:
  TransposedOperands(CPUContext &context, AccessMaps &maps, ProductGroups &productGroups,
                     PackedPanels &panels)
      : CPUComponent(context), maps(maps), productGroups(productGroups), panels(panels) {}

  bool isContiguous(Value tensor);
  bool isContiguousAlongK(OpOperand *operand, unsigned columnLoop);
  SmallVector<OpOperand *> operandsToTranspose(linalg::GenericOp generic, ArrayRef<Index> loops);
  int64_t maxTransposedVectors(const CPUNest &nest, unsigned columnLoop);
  /// Null where no block of the operand was transposed.
  Value transposedValue(OpOperand *operand, ArrayRef<Index> loops);

  /// Vectors of columns by operand and position.
  using Blocks = std::map<std::pair<OpOperand *, std::vector<Index>>, Value>;
  Blocks blocks; // of the chain that is being emitted

private:
  AccessMaps &maps;
  ProductGroups &productGroups;
  PackedPanels &panels;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_TRANSPOSEDOPERANDS_H
