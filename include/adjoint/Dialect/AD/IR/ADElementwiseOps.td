// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations.

#ifndef ADJOINT_DIALECT_AD_IR_ADELEMENTWISEOPS
#define ADJOINT_DIALECT_AD_IR_ADELEMENTWISEOPS

include "adjoint/Dialect/AD/IR/ADElementwiseBase.td"

//===- Unary -===//

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

def AD_ExpOp : AD_UnaryFunctionOp<"exp", "Exp"> {
  let summary = "natural exponential";
  let description = [{
    Semantics: e^x.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * e^x.

    Example:
    ```mlir
    %y = ad.exp %x : tensor<4xf32>
    ```
  }];
}

def AD_Exp2Op : AD_UnaryFunctionOp<"exp2", "Exp2"> {
  let summary = "exponential of base two";
  let description = [{
    Semantics: 2^x.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * 2^x * ln 2.

    Example:
    ```mlir
    %y = ad.exp2 %x : tensor<4xf32>
    ```
  }];
}

def AD_Expm1Op : AD_UnaryFunctionOp<"expm1", "Expm1"> {
  let summary = "exponential minus one, exact near zero";
  let description = [{
    Semantics: e^x - 1.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * e^x, as g * (expm1(x) + 1).

    Example:
    ```mlir
    %y = ad.expm1 %x : tensor<4xf32>
    ```
  }];
}

def AD_LogOp : AD_UnaryFunctionOp<"log", "Log"> {
  let summary = "natural logarithm";
  let description = [{
    Semantics: ln x; NaN below zero, -inf at zero.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g / x.

    Example:
    ```mlir
    %y = ad.log %x : tensor<4xf32>
    ```
  }];
}

def AD_Log2Op : AD_UnaryFunctionOp<"log2", "Log2"> {
  let summary = "logarithm of base two";
  let description = [{
    Semantics: log2 x; NaN below zero, -inf at zero.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g / (x * ln 2).

    Example:
    ```mlir
    %y = ad.log2 %x : tensor<4xf32>
    ```
  }];
}

def AD_Log1pOp : AD_UnaryFunctionOp<"log1p", "Log1p"> {
  let summary = "logarithm of one plus the input, exact near zero";
  let description = [{
    Semantics: ln(1 + x).
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g / (1 + x).

    Example:
    ```mlir
    %y = ad.log1p %x : tensor<4xf32>
    ```
  }];
}

def AD_SinOp : AD_UnaryFunctionOp<"sin", "Sin"> {
  let summary = "sine";
  let description = [{
    Semantics: sin x, in radians, for every finite input.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * cos(x).

    Example:
    ```mlir
    %y = ad.sin %x : tensor<4xf32>
    ```
  }];
}

def AD_CosOp : AD_UnaryFunctionOp<"cos", "Cos"> {
  let summary = "cosine";
  let description = [{
    Semantics: cos x, in radians, for every finite input.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: -g * sin(x).

    Example:
    ```mlir
    %y = ad.cos %x : tensor<4xf32>
    ```
  }];
}

def AD_TanOp : AD_UnaryFunctionOp<"tan", "Tan"> {
  let summary = "tangent";
  let description = [{
    Semantics: tan x, in radians, for every finite input.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * (1 + tan(x)^2).

    Example:
    ```mlir
    %y = ad.tan %x : tensor<4xf32>
    ```
  }];
}

def AD_TanhOp : AD_UnaryFunctionOp<"tanh", "Tanh"> {
  let summary = "hyperbolic tangent";
  let description = [{
    Semantics: tanh x.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * (1 - tanh(x)^2).

    Example:
    ```mlir
    %y = ad.tanh %x : tensor<4xf32>
    ```
  }];
}

def AD_SqrtOp : AD_UnaryFunctionOp<"sqrt", "Sqrt"> {
  let summary = "square root";
  let description = [{
    Semantics: the correctly rounded root; NaN below zero, -0 stays.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g / (2 * sqrt(x)).

    Example:
    ```mlir
    %y = ad.sqrt %x : tensor<4xf32>
    ```
  }];
}

def AD_RsqrtOp : AD_UnaryFunctionOp<"rsqrt", "Rsqrt"> {
  let summary = "reciprocal square root";
  let description = [{
    Semantics: 1 / sqrt(x).
    Constraints: (C1) the result has the type of `input`.
    Adjoint: -g * rsqrt(x)^3 / 2.

    Example:
    ```mlir
    %y = ad.rsqrt %x : tensor<4xf32>
    ```
  }];
}

def AD_RecipOp : AD_UnaryFunctionOp<"recip", "Recip"> {
  let summary = "reciprocal";
  let description = [{
    Semantics: 1 / x, correctly rounded.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: -g * recip(x)^2.

    Example:
    ```mlir
    %y = ad.recip %x : tensor<4xf32>
    ```
  }];
}

def AD_ErfOp : AD_UnaryFunctionOp<"erf", "Erf"> {
  let summary = "error function";
  let description = [{
    Semantics: 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * 2/sqrt(pi) * e^(-x^2).

    Example:
    ```mlir
    %y = ad.erf %x : tensor<4xf32>
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

def AD_SigmoidOp : AD_UnaryFunctionOp<"sigmoid", "Sigmoid"> {
  let summary = "logistic function";
  let description = [{
    Semantics: 1 / (1 + e^(-x)).
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * y * (1 - y) with y the result.

    Example:
    ```mlir
    %y = ad.sigmoid %x : tensor<4xf32>
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

def AD_SiluOp : AD_UnaryFunctionOp<"silu", "Silu"> {
  let summary = "sigmoid linear unit";
  let description = [{
    Semantics: x * sigmoid(x).
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * s * (1 + x * (1 - s)) with s = sigmoid(x).

    Example:
    ```mlir
    %y = ad.silu %x : tensor<4xf32>
    ```
  }];
}

def AD_SoftplusOp : AD_UnaryFunctionOp<"softplus", "Softplus"> {
  let summary = "soft rectifier";
  let description = [{
    Semantics: ln(1 + e^x), without overflow.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * sigmoid(x).

    Example:
    ```mlir
    %y = ad.softplus %x : tensor<4xf32>
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

def AD_GeluOp : AD_UnaryOp<"gelu", AD_FloatTensor> {
  let summary = "Gaussian error linear unit";
  let description = [{
    Semantics: x * Phi(x) with the normal distribution Phi (`none`, the default), or the formula
    x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) (`tanh`).

    Constraints: (C1) the result has the type of `input`.

    Adjoint: g times the derivative of the chosen formula.

    Example:
    ```mlir
    %y = ad.gelu %x : tensor<4xf32>
    %z = ad.gelu %x form tanh : tensor<4xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input,
                       DefaultValuedAttr<EnumAttr<AD_Dialect, AD_GeluForm, "gelu_form">,
                                         "::mlir::ad::GeluForm::none">:$form,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = "$input (`form` custom<Form>($form)^)? attr-dict `:` custom<LastType>(type($result))";
  let extraClassDeclaration = [{
    ::mlir::ad::numerics::Elementary getElementaryFunction() {
      using Function = ::mlir::ad::numerics::Elementary;
      return getForm() == ::mlir::ad::GeluForm::tanh ? Function::GeluTanh : Function::Gelu;
    }
  }];
}

def AD_IsFiniteOp : AD_ElementwiseOp<"is_finite", [SameOperandsAndResultShape]> {
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

//===- Binary -===//

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

    Adjoint: g / y and -g * (x / y) / y, each summed to its operand's shape.

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

def AD_PowOp : AD_BinaryFunctionOp<"pow", "Pow"> {
  let summary = "power";
  let description = [{
    Semantics: x to the power y, with the special cases of C Annex F.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g * y * x^(y-1) and g * x^y * ln x (0 where x is 0).

    Example:
    ```mlir
    %z = ad.pow %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
  }];
}

def AD_Atan2Op : AD_BinaryFunctionOp<"atan2", "Atan2"> {
  let summary = "angle of a point";
  let description = [{
    Semantics: the angle of the point (y, x), with the special cases of C Annex F; the first operand is y.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g * x / (x^2 + y^2) and -g * y / (x^2 + y^2), without squares that overflow or underflow; NaN at (0, 0).

    Example:
    ```mlir
    %z = ad.atan2 %x, %y : tensor<4x3xf32>, tensor<3xf32>
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

//===- Three operands -===//

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

#endif // ADJOINT_DIALECT_AD_IR_ADELEMENTWISEOPS
