// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations of upstream dialects between `ad` operations.

#include "Rules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// tensor.cast changes what is known of the sizes, nothing else.
struct TensorCastModel : DifferentiableOpInterface::ExternalModel<TensorCastModel, tensor::CastOp> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    Value given;
    if (cotangents[0] && wanted[0])
      given = tensor::CastOp::create(builder, op->getLoc(), op->getOperand(0).getType(), cotangents[0]);
    operandCotangents.push_back(given);
    return success();
  }
};

/// arith.select with one condition for whole tensors, which canonicalization makes out of small scf.if.
struct SelectModel : DifferentiableOpInterface::ExternalModel<SelectModel, arith::SelectOp> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    operandCotangents.append(3, Value());
    Value cotangent = cotangents[0];
    if (!cotangent)
      return success();
    auto select = cast<arith::SelectOp>(op);
    if (!select.getCondition().getType().isInteger(1))
      return op->emitOpError("expected a scalar condition to have a derivative; use 'ad.select'");
    Location loc = op->getLoc();
    Value zero = zerosLike(builder, loc, cotangent);
    if (wanted[1])
      operandCotangents[1] = arith::SelectOp::create(builder, loc, select.getCondition(), cotangent, zero);
    if (wanted[2])
      operandCotangents[2] = arith::SelectOp::create(builder, loc, select.getCondition(), zero, cotangent);
    return success();
  }
};
} // namespace

void ad::registerForeignRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ADDialect *, tensor::TensorDialect *) {
    tensor::CastOp::attachInterface<TensorCastModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, ADDialect *, arith::ArithDialect *) {
    arith::SelectOp::attachInterface<SelectModel>(*context);
  });
}
