// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "JoinedParts.h"
#include "../Generic/GPUKernelEmitter.h"
#include "Division.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// For sums that is -0, since +0 would change a sum of -0.
SmallVector<Value> device::absentParts(GPUKernelEmitter &emitter, linalg::GenericOp reduction,
                                       ArrayRef<Value> identities) {
  auto type = dyn_cast<FloatType>(identities.front().getType());
  bool sums = reduction.getNumResults() == 1 && isa<math::FmaOp, arith::AddFOp>(combiningOp(reduction));
  if (!type || !sums)
    return llvm::to_vector(identities);
  return {arith::ConstantOp::create(emitter.builder, emitter.loc, emitter.builder.getFloatAttr(type, -0.0))};
}

SmallVector<Value> device::joinParts(GPUKernelEmitter &emitter, linalg::GenericOp reduction, ValueRange left,
                                     ValueRange right) {
  if (reduction.getNumResults() > 1)
    return joinSelections(emitter.builder, emitter.loc, reduction, left, right);
  return {
      joinPartialResults(emitter.builder, emitter.loc, combiningOp(reduction), left.front(), right.front())};
}

SmallVector<Value> device::joinThreads(GPUKernelEmitter &emitter, linalg::GenericOp reduction,
                                       SmallVector<Value> parts, int64_t threads) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  for (int64_t distance = 1; distance < threads; distance *= 2) {
    Value bit = emitter.binary<arith::AndIOp>(emitter.mapping.lane, emitter.indexConstant(distance));
    Value isRight =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, emitter.indexConstant(0));
    SmallVector<Value> left, right;
    for (Value own : parts) {
      Value other = emitter.warpReductions.shuffle(own, distance);
      left.push_back(arith::SelectOp::create(builder, loc, isRight, other, own));
      right.push_back(arith::SelectOp::create(builder, loc, isRight, own, other));
    }
    parts = joinParts(emitter, reduction, left, right);
  }
  return parts;
}
