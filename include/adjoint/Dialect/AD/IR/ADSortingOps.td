// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that order elements along an axis.

#ifndef ADJOINT_DIALECT_AD_IR_ADSORTINGOPS
#define ADJOINT_DIALECT_AD_IR_ADSORTINGOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Interfaces/NamedKernelOpInterface.td"

def AD_ArgsortOp : AD_ComputeOp<"argsort", [
    InferTypeOpAdaptor, AD_ShapeOfFirstOperand,
    DeclareOpInterfaceMethods<NamedKernelOpInterface, ["decompose"]>]> {
  let summary = "positions of the elements in order";
  let description = [{
    Semantics: the i64 positions along the axis of the elements in ascending order, or in descending order with
    `descending`. Equal elements keep their order in both, and -0 equals +0. NaNs come last in both, in their order.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: none: the result is an integer.

    Example:
    ```mlir
    %p = ad.argsort %x axis 1 : tensor<4x3xf32>
    %q = ad.argsort %x axis 1 descending : tensor<4x3xf32>
    ```
  }];
  let arguments = (ins AD_NumberTensor:$input, I64Attr:$axis, UnitAttr:$descending,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_IndexTensor:$result);
  let assemblyFormat = [{
    $input `axis` $axis (`descending` $descending^)? attr-dict `:` custom<LastType>(type($input))
  }];
}

def AD_SortOp : AD_ComputeOp<"sort", [InferTypeOpAdaptor]> {
  let summary = "tensors in the order of the first";
  let description = [{
    Semantics: along the axis, the elements of every operand in the order of `ad.argsort` of the first one, the key.

    Constraints: (C1) there is at least one operand; (C2) the axis is one of the key's; (C3) the operands have one
    shape; (C4) the elements of the key are numbers.

    Adjoint: of each operand: the cotangent of its result, at the positions that the elements came from.

    Example:
    ```mlir
    %y = ad.sort %x axis 1 : tensor<4x3xf32>
    %k, %v = ad.sort %x, %i axis 0 descending : tensor<4x3xf32>, tensor<4x3xi32>
    ```
  }];
  let arguments = (ins Variadic<AD_Tensor>:$inputs, I64Attr:$axis, UnitAttr:$descending,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs Variadic<AD_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `axis` $axis (`descending` $descending^)? attr-dict `:` custom<LastTypes>(type($inputs))
  }];
}

def AD_TopKOp : AD_ComputeOp<"top_k", [InferTypeOpAdaptor]> {
  let summary = "largest elements along an axis";
  let description = [{
    Semantics: the first k elements along the axis in descending order, or in ascending order with `smallest`, and their
    i64 positions: those that `ad.argsort` puts first. Of equal elements the first ones are taken; NaNs come last.

    Constraints: (C1) the axis is one of the input's; (C2) k is not negative, and at most the size of the axis.

    Adjoint: the cotangent of the values at their positions, zeros elsewhere.

    Example:
    ```mlir
    %v, %p = ad.top_k %x axis 1 k 2 : tensor<4x3xf32>
    %w, %q = ad.top_k %x axis 1 k 2 smallest : tensor<4x3xf32>
    ```
  }];
  let arguments = (ins AD_NumberTensor:$input, I64Attr:$axis, I64Attr:$k, UnitAttr:$smallest,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_NumberTensor:$values, AD_IndexTensor:$positions);
  let assemblyFormat = [{
    $input `axis` $axis `k` $k (`smallest` $smallest^)? attr-dict `:` custom<LastType>(type($input))
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADSORTINGOPS
