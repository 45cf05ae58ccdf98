// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a precision policy must leave as it is.

#ifndef ADJOINT_INTERFACES_PRECISIONOPINTERFACE
#define ADJOINT_INTERFACES_PRECISIONOPINTERFACE

include "mlir/IR/OpBase.td"

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    An operation of which `ad-autocast` may not change every float. Without this interface, results that have the element
    type of the first float operand follow it when the operands are cast.
  }];
  let methods = [
    InterfaceMethod<"Whether the element type of the result stays when the operands are cast: a statistic in f32, say.",
      "bool", "keepsResultType", (ins "unsigned":$number)>
  ];
}

#endif // ADJOINT_INTERFACES_PRECISIONOPINTERFACE
