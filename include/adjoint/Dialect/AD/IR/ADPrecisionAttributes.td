// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Mixed precision as an attribute: a policy of a module or function, a rule of one operation.

#ifndef ADJOINT_DIALECT_AD_IR_ADPRECISIONATTRIBUTES
#define ADJOINT_DIALECT_AD_IR_ADPRECISIONATTRIBUTES

include "adjoint/Dialect/AD/IR/ADDialect.td"

def AD_PrecisionAttr : AD_Attr<"Precision", "precision"> {
  let summary = "a policy of mixed precision, or the rule of one operation";
  let description = [{
    The value of `ad.precision`, which `ad-autocast` turns into casts (docs/mixed-precision.md). It has three forms:

    - On a module or function: a built-in policy by its name, `bf16`, `f16` or `f8`; `none` says that nothing is cast.
    - On a module or function: a policy with all its parameters.
    - On an operation: `always`, `follow` or `never`, which takes precedence over the lists of the policy.

    | parameter | meaning | default |
    |---|---|---|
    | `compute` | the narrow type: bf16, f16, f8E4M3FN or f8E5M2 | |
    | `gradient` | with an 8-bit `compute`: the type of the cotangents that contractions read | f8E5M2 |
    | `result` | the type of the results of contractions in `always`: the narrow type or f32; bf16, f16 or f32 with an 8-bit `compute` | the narrow type; f32 with an 8-bit `compute` |
    | `accumulate` | the type in which the adjoint adds the cotangents of a value of 8 or 16 bits: `narrow`, its own, or f32 | `narrow` |
    | `always` | operations that compute in the narrow type | none |
    | `follow` | operations that compute in the widest type of their operands | none |
    | `never` | operations that compute in f32 | none |
    | `default` | the rule of operations that no list has | `never` |

    Lists name operations of `ad` without the prefix. An operation is in one list at most.

    Example:
    ```mlir
    #ad.precision<bf16>
    #ad.precision<compute = f16, result = f32, always = [dot, gemm], never = [exp, log], default = follow>
    #ad.precision<never>
    ```
  }];
  // The first form has a name alone.
  let parameters = (ins StringRefParameter<"name of a policy or rule">:$name,
                        StringRefParameter<"narrow type">:$compute, StringRefParameter<"type of cotangents">:$gradient,
                        StringRefParameter<"type of results">:$result,
                        StringRefParameter<"type of sums of cotangents">:$accumulate,
                        ArrayRefParameter<"::mlir::StringAttr">:$always,
                        ArrayRefParameter<"::mlir::StringAttr">:$follow,
                        ArrayRefParameter<"::mlir::StringAttr">:$never,
                        StringRefParameter<"rule of other operations">:$defaultRule);
  let hasCustomAssemblyFormat = 1;
}

#endif // ADJOINT_DIALECT_AD_IR_ADPRECISIONATTRIBUTES
