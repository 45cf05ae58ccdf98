// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that create tensors.

#ifndef ADJOINT_DIALECT_AD_IR_ADCREATIONOPS
#define ADJOINT_DIALECT_AD_IR_ADCREATIONOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "mlir/IR/OpAsmInterface.td"


def AD_ConstantOp : AD_Op<"constant", [ConstantLike, Pure,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "constant tensor";
  let description = [{
    Semantics: the tensor that the attribute holds.

    Constraints: (C1) `value` is a ranked tensor of floats, i1, i8, i32 or i64; the result has its type; (C2) every
    element is written down, or is in a resource that exists and has the right length (booleans: one byte each).

    Adjoint: none: no operands.

    Example:
    ```mlir
    %c = ad.constant dense<1.0> : tensor<4xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = "attr-dict custom<ConstantValue>($value)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def AD_FullOp : AD_ComputeOp<"full"> {
  let summary = "tensor with one value everywhere";
  let description = [{
    Semantics: every element is the scalar operand; dynamic sizes are index operands in the order of the `?`.

    Constraints: (C1) `value` has the element type of the result; (C2) there is one size per dynamic dimension of
    the result, in order.

    Adjoint: the sum of all elements of g, a scalar.

    Example:
    ```mlir
    %z = ad.full %scalar(%n) : f32 -> tensor<?x4xf32>
    ```
  }];
  let extraClassDeclaration = [{
    ::mlir::ad::ViewKind getViewKind() { return ::mlir::ad::ViewKind::broadcast; }
    bool isFreeView() { return true; }
  }];
  let arguments = (ins AD_Element:$value, Variadic<Index>:$sizes, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = "$value (`(` $sizes^ `)`)? attr-dict `:` type($value) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def AD_IotaOp : AD_ComputeOp<"iota"> {
  let summary = "ascending numbers along an axis";
  let description = [{
    Semantics: each element is its index along the axis, converted to the element type.

    Constraints: (C1) 0 <= `axis` < rank of the result, whose elements are floats, i8, i32 or i64; (C2) there is one
    size per dynamic dimension of the result, in order.

    Adjoint: none: no operands.

    Example:
    ```mlir
    %z = ad.iota axis 0 (%n) : tensor<?xi32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, I64Attr:$axis, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_NumberTensor:$result);
  let assemblyFormat = "`axis` $axis (`(` $sizes^ `)`)? attr-dict `:` custom<LastType>(type($result))";
  let hasVerifier = 1;
}

#endif // ADJOINT_DIALECT_AD_IR_ADCREATIONOPS
