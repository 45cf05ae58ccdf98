// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations whose kernels are written by hand.

#ifndef ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE
#define ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE

include "mlir/IR/OpBase.td"

def NamedKernelOpInterface : OpInterface<"NamedKernelOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    An operation without side effects that is defined by a decomposition into operations of `ad` and other operations
    with Adjoint's interfaces. The decomposition states every rounding and every order: the reference interpreter
    executes it, and the emitters of kernel classes that cover the operation must give its bits. On a target without
    such a class, the decomposition is compiled. Derivatives are those of the decomposition, unless the operation has a
    rule.

    The operation implements FusableOpInterface, too, whose defaults give it a kernel of its own. docs/kernel-operations.md
    has an example.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the decomposition before the operation, and returns one value of the same type for each result. Fails
        after a diagnostic on the operation.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

#endif // ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE
