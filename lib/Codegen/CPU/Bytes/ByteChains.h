// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of byte products.

#ifndef ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTECHAINS_H
#define ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTECHAINS_H

#include "../../Kernel/Reduction/ChainSteps.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../CPUComponent.h"
#include "../Contraction/RegisterTranspose.h"
#include "../Contraction/TransposedOperands.h"
#include "ByteDotProducts.h"
#include "ByteGroups.h"
#include "ByteProducts.h"

namespace mlir::ad::cpu {

class ByteChains : public CPUComponent {
public:
  ByteChains(CPUContext &context, LaneValues &laneValues, ChainSteps &chainSteps,
             RegisterTranspose &registerTranspose, TransposedOperands &transposedOperands,
             ByteProducts &byteProducts, ByteGroups &byteGroups, ByteDotProducts &byteDotProducts)
      : CPUComponent(context), laneValues(laneValues), chainSteps(chainSteps),
        registerTranspose(registerTranspose), transposedOperands(transposedOperands),
        byteProducts(byteProducts), byteGroups(byteGroups), byteDotProducts(byteDotProducts) {}

  FailureOr<SmallVector<Value>> byteChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                          ArrayRef<Value> start);

private:
  LaneValues &laneValues;
  ChainSteps &chainSteps;
  RegisterTranspose &registerTranspose;
  TransposedOperands &transposedOperands;
  ByteProducts &byteProducts;
  ByteGroups &byteGroups;
  ByteDotProducts &byteDotProducts;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTECHAINS_H
