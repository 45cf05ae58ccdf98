// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations of upstream dialects between `ad` operations.

#include "Rules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Async/IR/Async.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
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

/// arith.select of numbers, or of whole tensors by one condition, which canonicalization makes out of small
/// scf.if.
struct SelectModel : DifferentiableOpInterface::ExternalModel<SelectModel, arith::SelectOp> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    operandCotangents.append(3, Value());
    Value cotangent = cotangents[0];
    if (!cotangent)
      return success();
    auto select = cast<arith::SelectOp>(op);
    if (!isa<FloatType>(getElementTypeOrSelf(cotangent.getType())))
      return op->emitOpError("has no derivative rule for values of type ") << cotangent.getType();
    RuleBuilder rule(builder, op->getLoc());
    Value condition = select.getCondition(), zero = zerosLike(builder, op->getLoc(), cotangent);
    if (wanted[1])
      operandCotangents[1] = rule.select(condition, cotangent, zero);
    if (wanted[2])
      operandCotangents[2] = rule.select(condition, zero, cotangent);
    return success();
  }
};

/// A type whose values carry no derivative.
template <typename TypeT>
struct NoDerivative : DerivativeTypeInterface::ExternalModel<NoDerivative<TypeT>, TypeT> {
  bool carriesDerivative(Type) const { return false; }
};
} // namespace

void ad::registerForeignRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ADDialect *, tensor::TensorDialect *) {
    tensor::CastOp::attachInterface<TensorCastModel>(*context);
    attachExtractRules(context);
    attachTensorRules(context);
  });
  registry.addExtension(+[](MLIRContext *context, ADDialect *, arith::ArithDialect *) {
    arith::SelectOp::attachInterface<SelectModel>(*context);
    attachArithUnaryRules(context);
    attachArithBinaryRules(context);
  });
  registry.addExtension(+[](MLIRContext *context, ADDialect *, math::MathDialect *) {
    attachMathUnaryRules(context);
    attachMathBinaryRules(context);
  });
  registry.addExtension(+[](MLIRContext *context, ADDialect *, async::AsyncDialect *) {
    async::TokenType::attachInterface<NoDerivative<async::TokenType>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, ADDialect *, gpu::GPUDialect *) {
    gpu::AsyncTokenType::attachInterface<NoDerivative<gpu::AsyncTokenType>>(*context);
  });
}
