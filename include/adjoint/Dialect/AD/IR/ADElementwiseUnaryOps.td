// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations of one operand, but for elementary functions.

#ifndef ADJOINT_DIALECT_AD_IR_ADELEMENTWISEUNARYOPS
#define ADJOINT_DIALECT_AD_IR_ADELEMENTWISEUNARYOPS

include "adjoint/Dialect/AD/IR/ADElementwiseBase.td"

def AD_AbsOp : AD_UnaryOp<"abs", AD_NumberTensor> {
  let summary = "absolute value";
  let description = [{
    Semantics: |x|; the sign bit is cleared, NaN stays NaN; of the smallest integer: itself.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * sign(x).

    Example:
    ```mlir
    %y = ad.abs %x : tensor<4xf32>
    ```
  }];
}

def AD_NegOp : AD_UnaryOp<"neg", AD_NumberTensor> {
  let summary = "negation";
  let description = [{
    Semantics: -x; flips the sign bit of floats, wraps for integers.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: -g.

    Example:
    ```mlir
    %y = ad.neg %x : tensor<4xf32>
    ```
  }];
}

def AD_SignOp : AD_UnaryOp<"sign", AD_NumberTensor> {
  let summary = "sign";
  let description = [{
    Semantics: -1, 0 or 1; keeps -0 and NaN.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: zero.

    Example:
    ```mlir
    %y = ad.sign %x : tensor<4xf32>
    ```
  }];
}

def AD_FloorOp : AD_UnaryOp<"floor", AD_FloatTensor> {
  let summary = "largest integer not above";
  let description = [{
    Semantics: floor x; keeps -0, infinities and NaN.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: zero.

    Example:
    ```mlir
    %y = ad.floor %x : tensor<4xf32>
    ```
  }];
}

def AD_CeilOp : AD_UnaryOp<"ceil", AD_FloatTensor> {
  let summary = "smallest integer not below";
  let description = [{
    Semantics: ceil x; keeps -0, infinities and NaN.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: zero.

    Example:
    ```mlir
    %y = ad.ceil %x : tensor<4xf32>
    ```
  }];
}

def AD_RoundEvenOp : AD_UnaryOp<"round_even", AD_FloatTensor> {
  let summary = "nearest integer, ties to even";
  let description = [{
    Semantics: x rounded to an integer, ties to the even one.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: zero.

    Example:
    ```mlir
    %y = ad.round_even %x : tensor<4xf32>
    ```
  }];
}

def AD_ReluOp : AD_UnaryOp<"relu", AD_FloatTensor> {
  let summary = "rectifier";
  let description = [{
    Semantics: select(x < 0, 0, x): keeps NaN and -0.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g where x > 0, else 0.

    Example:
    ```mlir
    %y = ad.relu %x : tensor<4xf32>
    ```
  }];
}

def AD_NotOp : AD_UnaryOp<"not", AD_LogicalTensor> {
  let summary = "bitwise complement";
  let description = [{
    Semantics: every bit flipped; logical complement for i1.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: none: integers.

    Example:
    ```mlir
    %y = ad.not %x : tensor<4xi1>
    ```
  }];
}

def AD_IsFiniteOp : AD_ElementwiseOp<"is_finite", [SameOperandsAndResultShape,
    InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "whether a value is neither infinite nor NaN";
  let description = [{
    Semantics: 1 where the input is finite, else 0.
    Constraints: (C1) the result has the shape of `input` and element type i1.
    Adjoint: none: the result is boolean.

    Example:
    ```mlir
    %y = ad.is_finite %x : tensor<4xf32> -> tensor<4xi1>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` custom<SameShapeTypes>(type($input), type($result))";
}

def AD_CastOp : AD_ElementwiseOp<"cast", [SameOperandsAndResultShape]> {
  let summary = "conversion to another element type";
  let description = [{
    Semantics: each element converted. Float to float and integer to float round to nearest even, once; a finite value
    too large for an 8-bit float saturates; float to integer saturates and NaN gives 0; integers wrap or sign-extend; to
    i1 is x != 0.

    Constraints: (C1) the result has the shape of `input`.

    Adjoint: the cotangent cast back; none when either side is an integer.

    Example:
    ```mlir
    %y = ad.cast %x : tensor<4xf32> -> tensor<4xbf16>
    ```
  }];
  let arguments = (ins AD_Tensor:$input, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` custom<SameShapeTypes>(type($input), type($result))";
  let hasCanonicalizer = 1;
}

def AD_BitcastOp : AD_ElementwiseOp<"bitcast", [SameOperandsAndResultShape]> {
  let summary = "the same bits as another element type";
  let description = [{
    Semantics: each element's bits as an element of the other type. Sign and payload of a NaN are not in the contract
    (docs/numerics.md): every NaN has the bits of the positive quiet one without a payload.

    Constraints: (C1) the result has the shape of `input`; (C2) both element types have as many bits.

    Adjoint: none: bits are no numbers.

    Example:
    ```mlir
    %y = ad.bitcast %x : tensor<4xf32> -> tensor<4xi32>
    ```
  }];
  let arguments = (ins AD_Tensor:$input, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` custom<SameShapeTypes>(type($input), type($result))";
  let hasVerifier = 1;
}

#endif // ADJOINT_DIALECT_AD_IR_ADELEMENTWISEUNARYOPS
