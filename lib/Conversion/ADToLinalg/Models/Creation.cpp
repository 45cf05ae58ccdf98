// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Linalg of operations that create tensors.

#include "../ADToLinalg.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
struct FullLowering : LoweringModel<FullLowering, FullOp> {
  static Value lower(FullOp op, OpBuilder &builder) {
    return fillTensor(builder, op.getLoc(), emptyLike(builder, op.getLoc(), op->getResult(0)), op.getValue());
  }
};

struct IotaLowering : LoweringModel<IotaLowering, IotaOp> {
  static Value lower(IotaOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    Value init = emptyLike(builder, loc, op->getResult(0));
    Type element = getElementTypeOrSelf(init);
    return elementwiseGeneric(builder, loc, {}, init, [&](OpBuilder &nested, ValueRange) {
      Value index = linalg::IndexOp::create(nested, loc, op.getAxis());
      Value wide = arith::IndexCastOp::create(nested, loc, nested.getI64Type(), index);
      return convertScalar(nested, loc, wide, element);
    });
  }
};
} // namespace

void ad::registerCreationModels(DialectRegistry &registry) {
  registerLoweringModels<FullLowering, IotaLowering>(registry);
}
