// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elements along K that one lane of a contraction's instruction multiplies.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_PRODUCTGROUPS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_PRODUCTGROUPS_H

#include "../Bytes/ByteProducts.h"
#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class ProductGroups : public CPUComponent {
public:
  ProductGroups(CPUContext &context, ByteProducts &byteProducts)
      : CPUComponent(context), byteProducts(byteProducts) {}

  /// 2 of bf16, 4 of i8, else 1.
  int64_t groupSize(linalg::GenericOp generic);

private:
  ByteProducts &byteProducts;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_PRODUCTGROUPS_H
