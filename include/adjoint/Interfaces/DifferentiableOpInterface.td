// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules. Models are attached from outside (lib/Dialect/AD/Derivatives), so that any dialect can join.

#ifndef ADJOINT_INTERFACES_DIFFERENTIABLEOPINTERFACE
#define ADJOINT_INTERFACES_DIFFERENTIABLEOPINTERFACE

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    The derivative of an operation, written as ordinary operations, so that derivatives can be differentiated again.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the cotangents of the operands. `cotangents` has one value per result; a null value is a zero
        cotangent. `wanted` has one flag per operand. The rule appends one value per operand to
        `operandCotangents`: the cotangent, of exactly the operand's type, or null when it is zero or unwanted.
        Fails, after a diagnostic on the operation, when it has no derivative in this form.
      }],
      "::llvm::LogicalResult", "vjp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents, "::llvm::ArrayRef<bool>":$wanted,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandCotangents)>,
    InterfaceMethod<[{
        Whether results depend differentiably on the operand: false for integer operands, shapes, conditions. By
        default true for every operand whose type carries a derivative: floats, complex numbers, tensors of them, and
        foreign types (DerivativeTypeInterface.h). `wanted` is never set for another operand.
      }],
      "bool", "isDifferentiable", (ins "unsigned":$operand), [{}], [{
        return ::mlir::ad::carriesDerivative($_op->getOperand(operand).getType());
      }]>
  ];
}

#endif // ADJOINT_INTERFACES_DIFFERENTIABLEOPINTERFACE
