// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivatives of functions.

#ifndef ADJOINT_DIALECT_AD_IR_ADDIFFERENTIATIONOPS
#define ADJOINT_DIALECT_AD_IR_ADDIFFERENTIATIONOPS

include "adjoint/Dialect/AD/IR/ADBase.td"


include "mlir/IR/SymbolInterfaces.td"

def AD_ValueAndGradOp : AD_Op<"value_and_grad", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "value and gradient of a scalar function";
  let description = [{
    Semantics: calls the function and returns all its results, followed by the gradient of its first result, a rank-0
    float tensor, with respect to the listed arguments (distinct, in the order of the list). With `has_aux` the function
    may have further results, which are not differentiated.

    Constraints: (C1) `callee` is a function that the operation can see; (C2) the types of `inputs` are those of its
    arguments; (C3) `wrt` lists distinct arguments, each a tensor of floats; (C4) the results are those of the
    function, followed by one derivative per entry of `wrt`, of the type of that argument; (C5) the first result of
    the function is a tensor of floats of rank 0; (C6) without `has_aux` the function has one result.

    Adjoint: `ad-differentiate` first replaces the inner operation by the code of the derivative, then differentiates
    that code.

    Example:
    ```mlir
    %loss, %dw = ad.value_and_grad @loss(%w, %x) wrt [0]
        : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs, DenseI64ArrayAttr:$wrt,
                       UnitAttr:$has_aux);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `wrt` $wrt (`has_aux` $has_aux^)? attr-dict `:`
    custom<Signature>(type($inputs), type($results))
  }];
}

def AD_VjpOp : AD_Op<"vjp", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "vector-Jacobian product of a function";
  let description = [{
    Semantics: calls the function and returns all its results, followed by the cotangents of the listed arguments for
    the given cotangents of the results (one per result that is a float tensor, of the result's type).

    Constraints: (C1) `callee` is a function that the operation can see; (C2) the types of `inputs` are those of its
    arguments; (C3) `wrt` lists distinct arguments, each a tensor of floats; (C4) the results are those of the
    function, followed by one derivative per entry of `wrt`, of the type of that argument; (C5) there is one
    cotangent per result of the function that is a tensor of floats, of its type.

    Adjoint: that of the operations which `ad-differentiate` replaces it with.

    Example:
    ```mlir
    %y, %dx = ad.vjp @f(%x) cotangents(%dy) wrt [0] : (tensor<4xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs, Variadic<AnyType>:$cotangents,
                       DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `cotangents` `(` $cotangents `)` `wrt` $wrt attr-dict `:`
    custom<VjpTypes>(ref($inputs), type($inputs), type($cotangents), type($results))
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADDIFFERENTIATIONOPS
