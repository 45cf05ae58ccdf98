// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "CPUChains.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

FailureOr<SmallVector<Value>> CPUChainSteps::accumulate(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                        ValueRange accumulators) {
  int64_t group = productGroups.groupSize(generic);
  if (group == kBF16DotProduct.group)
    return dotProducts.addDotProduct(generic, loops, accumulators.front());
  if (group == kByteDotProduct.group)
    return byteDotProducts.addByteProducts(generic, loops, accumulators.front());
  return values.applyBody(generic, loops, accumulators);
}

void CPUChainSteps::afterStep(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, Value k) {
  if (productGroups.groupSize(generic) == 1) {
    prefetcher.prefetchNextTile(generic, loops, k);
    prefetcher.prefetchCombined(generic, loops, k);
  }
}

FailureOr<SmallVector<Value>> CPUReductionChains::hoistedChain(linalg::GenericOp generic,
                                                               ArrayRef<SmallVector<Index>> loops,
                                                               ArrayRef<Value> start, Value lower,
                                                               Value upper) {
  if (int64_t group = productGroups.groupSize(generic); group == kBF16DotProduct.group) {
    dotProducts.recordUse(generic);
    lower = binary<arith::DivUIOp>(lower, indexConstant(group));
    upper = binary<arith::DivUIOp>(upper, indexConstant(group));
  }
  if (generic.getNumResults() == 1 && !transposedOperands.operandsToTranspose(generic, loops.front()).empty())
    return registerTranspose.transposedChain(generic, loops, start, lower, upper);
  return steps.chain(generic, loops, start, lower, upper);
}
