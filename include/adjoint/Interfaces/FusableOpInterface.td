// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What fusion needs to know about an operation.

#ifndef ADJOINT_INTERFACES_FUSABLEOPINTERFACE
#define ADJOINT_INTERFACES_FUSABLEOPINTERFACE

include "mlir/IR/OpBase.td"

def FusableOpInterface : OpInterface<"FusableOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    Operations that may be in an `ad.fusion`. Fusion knows no concrete operation beyond this interface.
  }];
  let methods = [
    InterfaceMethod<"What kind of fusion this operation starts.",
      "::mlir::ad::FusionKind", "getFusionKind", (ins), [{}], [{ return ::mlir::ad::FusionKind::elementwise; }]>
  ];
}

#endif // ADJOINT_INTERFACES_FUSABLEOPINTERFACE
