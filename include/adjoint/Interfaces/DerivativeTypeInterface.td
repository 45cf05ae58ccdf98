// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Whether values of a type can have a derivative. Foreign types say it by this interface.

#ifndef ADJOINT_INTERFACES_DERIVATIVETYPEINTERFACE
#define ADJOINT_INTERFACES_DERIVATIVETYPEINTERFACE

include "mlir/IR/OpBase.td"

def DerivativeTypeInterface : TypeInterface<"DerivativeTypeInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    Says whether values of a type carry a derivative. A foreign type without this interface carries one: a rule or an
    error decides about its values, never a silent zero. Attach it to tokens, handles and the like.
  }];
  let methods = [
    InterfaceMethod<[{
        Whether values of the type may depend differentiably on other values.
      }],
      "bool", "carriesDerivative">
  ];
}

#endif // ADJOINT_INTERFACES_DERIVATIVETYPEINTERFACE
