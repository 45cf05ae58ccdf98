// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of barriers and transfers. What the host receives or feeds is no part of a derivative.

#include "Rules.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// One barrier over all cotangents that are not zero, as the forward operation is one barrier over all
/// values.
struct BarrierModel : DifferentiableOpInterface::ExternalModel<BarrierModel, BarrierOp> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    SmallVector<Value> present;
    for (auto [cotangent, want] : llvm::zip(cotangents, wanted))
      if (cotangent && want)
        present.push_back(cotangent);
    BarrierOp barrier;
    if (!present.empty())
      barrier = BarrierOp::create(builder, op->getLoc(), ValueRange(present).getTypes(), present);
    unsigned next = 0;
    for (auto [cotangent, want] : llvm::zip(cotangents, wanted))
      operandCotangents.push_back(cotangent && want ? barrier.getResult(next++) : Value());
    return success();
  }
};
} // namespace

void ad::attachControlRules(MLIRContext *context) {
  BarrierOp::attachInterface<BarrierModel>(*context);
  attachZeroRules<StopGradientOp, FeedOp, ReceiveOp>(context);
}
