// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The conversion to linalg of operations whose loops and scalar code the other interfaces do not describe.

#ifndef ADJOINT_INTERFACES_LINALGLOWERINGOPINTERFACE
#define ADJOINT_INTERFACES_LINALGLOWERINGOPINTERFACE

include "mlir/IR/OpBase.td"

def LinalgLoweringOpInterface : OpInterface<"LinalgLoweringOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    An operation with linalg code of its own. Models are attached from outside (lib/Conversion/ADToLinalg/Models).
    Elementwise operations, reductions and affine views need none: `convert-ad-to-linalg` builds their code from
    ElementwiseOpInterface, ReductionOpInterface and the access maps of FusableOpInterface.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds operations of linalg, tensor and arith that compute the one result, before the operation. Null when the
        operation is in a form that has no such code; then nothing is built.
      }],
      "::mlir::Value", "lowerToLinalg", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

#endif // ADJOINT_INTERFACES_LINALGLOWERINGOPINTERFACE
