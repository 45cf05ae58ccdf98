// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of byte products: all positions in one loop over groups, and the remainder of K.

#include "ByteChains.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// All positions in one loop over groups. The remainder of K is one more group.
FailureOr<SmallVector<Value>>
ByteChains::byteChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, ArrayRef<Value> start) {
  byteDotProducts.sumRows(generic, loops);
  SmallVector<Value> accumulators;
  for (auto [position, identity] : llvm::zip_equal(loops, start)) {
    Value bias = context.known.lookup(byteDotProducts.rowSumKey(generic, position));
    accumulators.push_back(binary<arith::SubIOp>(identity, lanes > 1 ? laneValues.splat(bias, lanes) : bias));
  }
  Value zero = indexConstant(0);
  Value sizeK = byteProducts.sizeOfK(byteProducts.chosen.find(generic)->second);
  Value whole = binary<arith::DivUIOp>(sizeK, indexConstant(kBytesPerLane));
  bool transposes = !transposedOperands.operandsToTranspose(generic, loops.front()).empty();
  FailureOr<SmallVector<Value>> result =
      transposes ? registerTranspose.transposedChain(generic, loops, accumulators, zero, whole)
                 : chainSteps.chain(generic, loops, accumulators, zero, whole);
  if (failed(result))
    return failure();
  auto addRest = [&]() -> LogicalResult {
    for (auto [i, position] : llvm::enumerate(loops))
      if (failed(chainSteps.step(generic, position, whole, MutableArrayRef(*result).slice(i, 1))))
        return failure();
    return success();
  };
  if (failed(byteGroups.overPartialGroup(sizeK, *result, addRest)))
    return failure();
  return result;
}
