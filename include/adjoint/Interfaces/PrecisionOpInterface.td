// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a precision policy may do with an operation.

#ifndef ADJOINT_INTERFACES_PRECISIONOPINTERFACE
#define ADJOINT_INTERFACES_PRECISIONOPINTERFACE

include "mlir/IR/OpBase.td"

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    An operation that says which types `ad-autocast` may compute it in. Without this interface it is computed in any
    float of a policy: its operands are cast, and results that have the element type of the first float operand follow
    it.
  }];
  let methods = [
    InterfaceMethod<[{
        Whether the operation can be computed with operands of this element type: f32, bf16 or f16. Where it cannot,
        `ad-autocast` leaves it in f32 and says so in a remark `not-supported` of the category `ad-precision`; it is an
        error if the operation itself has the rule, or does not support f32 either.
      }],
      "bool", "supportsPrecision", (ins "::mlir::Type":$element), [{}], [{ return true; }]>,
    InterfaceMethod<[{
        Changes what else of the operation depends on the type that it is computed in, such as an attribute. Operands
        are cast and results have their types afterwards. Fails after an error.
      }],
      "::llvm::LogicalResult", "setPrecision", (ins "::mlir::Type":$element), [{}], [{ return ::llvm::success(); }]>,
    InterfaceMethod<"Whether the element type of the result stays when the operands are cast: a statistic in f32, say.",
      "bool", "keepsResultType", (ins "unsigned":$number), [{}], [{ return false; }]>
  ];
}

#endif // ADJOINT_INTERFACES_PRECISIONOPINTERFACE
