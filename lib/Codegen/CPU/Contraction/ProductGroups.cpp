// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ProductGroups.h"
#include "adjoint/Codegen/Kernel/Contractions.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Operands of bf16 have whole pairs then.
int64_t ProductGroups::groupSize(linalg::GenericOp generic) {
  if (byteProducts.chosen.count(generic))
    return kBytesPerLane;
  bool pairs = context.hasDotProducts && kBF16DotProduct.hasVectors(vectorLanes) &&
               usesPairDotProducts(generic, kernel.getOrderAttr());
  return pairs ? kBF16DotProduct.group : 1;
}
