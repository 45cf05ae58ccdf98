// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The epilogues of ad.dot and ad.gemm.

#include "ContractionEpilogue.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"

using namespace mlir;
using namespace mlir::ad;

Value ad::emitEpilogue(OpBuilder &builder, DotOp op, Value sum) {
  return castTo(builder, op.getLoc(), sum, op.getType().getElementType());
}

Value ad::emitEpilogue(OpBuilder &builder, GemmOp op, Value sum) {
  Location loc = op.getLoc();
  auto scaled = [&](Value value, const APFloat &by) -> Value {
    if (by.isExactlyValue(1.0))
      return value;
    return MulOp::create(builder, loc, value, fullLike(builder, loc, value, by.convertToDouble()),
                         PermissionsAttr());
  };
  sum = scaled(sum, op.getAlpha());
  if (op.getBias()) {
    Value bias = castTo(builder, loc, op.getBias(), getElementTypeOrSelf(sum.getType()));
    bias = broadcastLike(builder, loc, scaled(bias, op.getBeta()), sum);
    sum = AddOp::create(builder, loc, sum, bias, PermissionsAttr());
  }
  return castTo(builder, loc, sum, op.getType().getElementType());
}
