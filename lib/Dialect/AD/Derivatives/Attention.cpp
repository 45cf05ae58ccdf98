// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The derivative rule of attention. That of ad.attention_grad is the derivative of its decomposition.

#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ADAttentionOps.h"

using namespace mlir;
using namespace mlir::ad;

// sum(g * y) of each query, less the cotangent of the logarithm.
static Value deltaOf(OpBuilder &builder, AttentionOp op, Value cotangent, Value ofLogSum) {
  Location loc = op.getLoc();
  Type accumulator = getElementTypeOrSelf(op.getLogSum().getType());
  Value delta;
  if (cotangent) {
    Value product = MulOp::create(builder, loc, castTo(builder, loc, cotangent, accumulator),
                                  castTo(builder, loc, op.getResult(), accumulator), PermissionsAttr());
    delta = ReduceSumOp::create(builder, loc, product, ArrayRef<int64_t>{3});
  } else {
    delta = zerosLike(builder, loc, op.getLogSum());
  }
  return ofLogSum ? SubOp::create(builder, loc, delta, ofLogSum, PermissionsAttr()).getResult() : delta;
}

namespace {
struct AttentionModel : DifferentiableOpInterface::ExternalModel<AttentionModel, AttentionOp> {
  LogicalResult vjp(Operation *operation, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    auto op = cast<AttentionOp>(operation);
    Value cotangent = cotangents[0];
    if (!cotangent && !cotangents[1]) {
      operandCotangents.append(op->getNumOperands(), Value());
      return success();
    }
    Value delta = deltaOf(builder, op, cotangent, cotangents[1]);
    if (!cotangent)
      cotangent = zerosLike(builder, op.getLoc(), op.getResult());
    auto grad = AttentionGradOp::create(builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
                                        op.getLogSum(), delta, cotangent, op.getMask(), op.getCausalAttr(),
                                        op.getWindowAttr(), op.getScaleAttr(), op.getSoftcapAttr(),
                                        op.getChunkAttr(), PermissionsAttr());
    operandCotangents.append(grad->result_begin(), grad->result_end());
    operandCotangents.resize(op->getNumOperands());
    for (auto [given, isWanted] : llvm::zip_equal(operandCotangents, wanted))
      given = isWanted ? given : Value();
    return success();
  }
};
} // namespace

void ad::attachAttentionRules(MLIRContext *context) {
  AttentionOp::attachInterface<AttentionModel>(*context);
}
