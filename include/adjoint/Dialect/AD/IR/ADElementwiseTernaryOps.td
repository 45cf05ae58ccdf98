// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations of three operands.

#ifndef ADJOINT_DIALECT_AD_IR_ADELEMENTWISETERNARYOPS
#define ADJOINT_DIALECT_AD_IR_ADELEMENTWISETERNARYOPS

include "adjoint/Dialect/AD/IR/ADElementwiseBase.td"

def AD_SelectOp : AD_TernaryOp<"select", 1> {
  let summary = "choice by a condition";
  let description = [{
    Semantics: the second operand where the condition holds, else the third.

    Constraints: (C1) `onTrue` and `onFalse` have one element type; (C2) the shapes of all three broadcast; (C3) the
    result has the broadcast shape and the element type of `onTrue`.

    Adjoint: g where the condition holds to the second operand, g elsewhere to the third, 0 otherwise.

    Example:
    ```mlir
    %z = ad.select %c, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins AD_BoolTensor:$condition, AD_Tensor:$onTrue, AD_Tensor:$onFalse,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = [{
    $condition `,` $onTrue `,` $onFalse attr-dict `:`
    custom<SelectTypes>(type($condition), type($onTrue), type($onFalse), type($result))
  }];
}

def AD_ClampOp : AD_TernaryOp<"clamp"> {
  let summary = "value limited to an interval";
  let description = [{
    Semantics: min(max(x, low), high) with the IEEE functions: NaN in any operand gives NaN; where low > high the result
    is high.

    Constraints: (C1) all three have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g to x strictly inside the interval, to low where x < low, to high where x > high; at a limit to x; where
    low > high to high.

    Example:
    ```mlir
    %z = ad.clamp %x, %low, %high : tensor<4xf32>, tensor<f32>, tensor<f32>
    ```
  }];
  let arguments = (ins AD_NumberTensor:$input, AD_NumberTensor:$low, AD_NumberTensor:$high,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = [{
    $input `,` $low `,` $high attr-dict `:`
    custom<TernaryTypes>(type($input), type($low), type($high), type($result))
  }];
}

def AD_FmaOp : AD_TernaryOp<"fma"> {
  let summary = "fused multiply-add";
  let description = [{
    Semantics: x * y + z rounded once (16- and 8-bit types: fused in f32, then rounded to the type).

    Constraints: (C1) all three have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g * y, g * x and g, each summed to its operand's shape.

    Example:
    ```mlir
    %w = ad.fma %x, %y, %z : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$lhs, AD_FloatTensor:$rhs, AD_FloatTensor:$addend,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $addend attr-dict `:`
    custom<TernaryTypes>(type($lhs), type($rhs), type($addend), type($result))
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADELEMENTWISETERNARYOPS
