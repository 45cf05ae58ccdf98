// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations whose scalar function is an elementary function of Numerics/Math.

#ifndef ADJOINT_DIALECT_AD_IR_ADELEMENTARYFUNCTIONOPS
#define ADJOINT_DIALECT_AD_IR_ADELEMENTARYFUNCTIONOPS

include "adjoint/Dialect/AD/IR/ADElementwiseBase.td"

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
    Adjoint: g * e^x, as of `ad.exp`.

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

#endif // ADJOINT_DIALECT_AD_IR_ADELEMENTARYFUNCTIONOPS
