// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of reductions on CPUs: their steps, and the loops around these.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_CPUCHAINS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_CPUCHAINS_H

#include "../../Kernel/Reduction/ReductionChains.h"
#include "../Bytes/ByteDotProducts.h"
#include "../Contraction/RegisterTranspose.h"

namespace mlir::ad::cpu {

/// Steps of chains by instructions that multiply and add groups of elements along K.
class CPUChainSteps : public ChainSteps {
public:
  CPUChainSteps(CPUContext &context, ValueSource &values, LaneValues &laneValues, ReductionLoops &loops,
                ProductGroups &productGroups, DotProducts &dotProducts, ByteDotProducts &byteDotProducts,
                Prefetcher &prefetcher)
      : ChainSteps(context, values, laneValues, loops), productGroups(productGroups),
        dotProducts(dotProducts), byteDotProducts(byteDotProducts), prefetcher(prefetcher) {}

private:
  FailureOr<SmallVector<Value>> accumulate(linalg::GenericOp generic, ArrayRef<Index> loops,
                                           ValueRange accumulators) override;
  void afterStep(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, Value k) override;

  ProductGroups &productGroups;
  DotProducts &dotProducts;
  ByteDotProducts &byteDotProducts;
  Prefetcher &prefetcher;
};

/// Chains whose operands are transposed in registers, and chains over pairs of bf16.
class CPUReductionChains : public ReductionChains {
public:
  CPUReductionChains(CPUContext &context, Hoisting &hoisting, ChainSteps &steps, ProductGroups &productGroups,
                     DotProducts &dotProducts, TransposedOperands &transposedOperands,
                     RegisterTranspose &registerTranspose)
      : ReductionChains(context, hoisting, steps), productGroups(productGroups), dotProducts(dotProducts),
        transposedOperands(transposedOperands), registerTranspose(registerTranspose) {}

private:
  FailureOr<SmallVector<Value>> hoistedChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                             ArrayRef<Value> start, Value lower, Value upper) override;

  ProductGroups &productGroups;
  DotProducts &dotProducts;
  TransposedOperands &transposedOperands;
  RegisterTranspose &registerTranspose;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_CPUCHAINS_H
