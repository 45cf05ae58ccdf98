// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations of two operands, but for elementary functions.

#ifndef ADJOINT_DIALECT_AD_IR_ADELEMENTWISEBINARYOPS
#define ADJOINT_DIALECT_AD_IR_ADELEMENTWISEBINARYOPS

include "adjoint/Dialect/AD/IR/ADElementwiseBase.td"

def AD_AddOp : AD_BinaryOp<"add", AD_NumberTensor, [Commutative]> {
  let summary = "sum";
  let description = [{
    Semantics: x + y; integers wrap.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g and g, each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.add %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
  let hasCanonicalizer = 1;
}

def AD_SubOp : AD_BinaryOp<"sub", AD_NumberTensor> {
  let summary = "difference";
  let description = [{
    Semantics: x - y; integers wrap.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g and -g, each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.sub %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
  let hasCanonicalizer = 1;
}

def AD_MulOp : AD_BinaryOp<"mul", AD_NumberTensor, [Commutative]> {
  let summary = "product";
  let description = [{
    Semantics: x * y; integers wrap.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g * y and g * x, each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.mul %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
  let hasCanonicalizer = 1;
}

def AD_DivOp : AD_BinaryOp<"div", AD_NumberTensor> {
  let summary = "quotient";
  let description = [{
    Semantics: x / y; integers truncate toward zero, x / 0 is 0 and MIN / -1 is MIN.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g / y and -g * x / y^2, each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.div %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
  let hasCanonicalizer = 1;
}

def AD_RemOp : AD_BinaryOp<"rem", AD_NumberTensor> {
  let summary = "remainder of the truncated quotient";
  let description = [{
    Semantics: x - trunc(x / y) * y, exactly (C fmod); integers: x rem 0 is x, MIN rem -1 is 0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g and -g * trunc(x / y), each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.rem %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
}

def AD_MaxOp : AD_BinaryOp<"max", AD_NumberTensor, [Commutative]> {
  let summary = "larger of two values";
  let description = [{
    Semantics: IEEE maximum: NaN propagates, -0 < +0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g to the larger operand, half to each where they are equal.

    Example:
    ```mlir
    %z = ad.max %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
}

def AD_MinOp : AD_BinaryOp<"min", AD_NumberTensor, [Commutative]> {
  let summary = "smaller of two values";
  let description = [{
    Semantics: IEEE minimum: NaN propagates, -0 < +0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g to the smaller operand, half to each where they are equal.

    Example:
    ```mlir
    %z = ad.min %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
}

def AD_AndOp : AD_BinaryOp<"and", AD_LogicalTensor, [Commutative]> {
  let summary = "bitwise and";
  let description = [{
    Semantics: each bit of x and y.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.and %x, %y : tensor<4xi1>
    ```
  }];
}

def AD_OrOp : AD_BinaryOp<"or", AD_LogicalTensor, [Commutative]> {
  let summary = "bitwise or";
  let description = [{
    Semantics: each bit of x or y.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.or %x, %y : tensor<4xi1>
    ```
  }];
}

def AD_XorOp : AD_BinaryOp<"xor", AD_LogicalTensor, [Commutative]> {
  let summary = "bitwise exclusive or";
  let description = [{
    Semantics: each bit of x exclusive or y.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.xor %x, %y : tensor<4xi1>
    ```
  }];
}

def AD_ShiftLeftOp : AD_BinaryOp<"shift_left", AD_IntegerTensor> {
  let summary = "shift to higher bits";
  let description = [{
    Semantics: the bits of x moved y places up, zeros in those below: x · 2^y, which wraps. Every y outside of 0 to the
    number of bits moves all of them out: the result is 0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.shift_left %x, %y : tensor<4xi32>
    ```
  }];
}

def AD_ShiftRightOp : AD_BinaryOp<"shift_right", AD_IntegerTensor> {
  let summary = "shift to lower bits";
  let description = [{
    Semantics: the bits of x moved y places down, copies of the sign in those above: x / 2^y, rounded down. Every y
    outside of 0 to the number of bits leaves the sign alone: 0, or -1 for a negative x.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.shift_right %x, %y : tensor<4xi32>
    ```
  }];
}

def AD_ShiftRightLogicalOp : AD_BinaryOp<"shift_right_logical", AD_IntegerTensor> {
  let summary = "shift of an unsigned number to lower bits";
  let description = [{
    Semantics: the bits of x moved y places down, zeros in those above. Every y outside of 0 to the number of bits moves
    all of them out: the result is 0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.shift_right_logical %x, %y : tensor<4xi32>
    ```
  }];
}

def AD_CompareOp : AD_BroadcastingOp<"compare", [], 0, "true"> {
  let summary = "comparison";
  let description = [{
    Semantics: 1 where the predicate holds. Comparisons with NaN are false, `ne` is true. Integers are signed, i1 is 0
    or 1.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and element type i1.

    Adjoint: none: the result is boolean.

    Example:
    ```mlir
    %m = ad.compare lt %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
  let arguments = (ins EnumAttr<AD_Dialect, AD_ComparePredicate, "predicate">:$predicate, AD_Tensor:$lhs,
                       AD_Tensor:$rhs, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_BoolTensor:$result);
  let assemblyFormat = [{
    custom<Predicate>($predicate) $lhs `,` $rhs attr-dict `:`
    custom<CompareTypes>(type($lhs), type($rhs), type($result))
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADELEMENTWISEBINARYOPS
