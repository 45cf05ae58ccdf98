// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Random numbers by counters, and the cast that rounds by them.

#ifndef ADJOINT_DIALECT_AD_IR_ADRANDOMOPS
#define ADJOINT_DIALECT_AD_IR_ADRANDOMOPS

include "adjoint/Dialect/AD/IR/ADElementwiseBase.td"

def AD_CounterTensor : AD_TensorOf<I64, "i64">;

// Operands that broadcast like NumPy; the element type of the result is written, since it does not follow from them.
class AD_KeyedOp<string mnemonic, Type resultType> : AD_ElementwiseOp<mnemonic> {
  let results = (outs resultType:$result);
  let hasVerifier = 1;
  let extraClassDefinition = sharedDefinitions # [{
    ::llvm::LogicalResult $cppClass::verify() { return ::mlir::ad::verifyBroadcastResult(getOperation()); }
  }];
}

class AD_RandomOp<string mnemonic, Type resultType> : AD_KeyedOp<mnemonic, resultType> {
  let arguments = (ins AD_CounterTensor:$key, AD_CounterTensor:$counter, OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = "$key `,` $counter attr-dict `:` type($key) `,` type($counter) `->` type($result)";
}

def AD_RngBitsOp : AD_RandomOp<"rng_bits", AD_IndexTensor> {
  let summary = "random bits of a key and a counter";
  let description = [{
    Semantics: each element is made of the words w0 to w3 that Philox4x32-10 gives for the 64-bit key and the counter
    (low half of `counter`, its high half, 0, 0): w0 as i32, or w0 * 2^32 + w1 as i64. Equal keys and counters give
    equal bits, on every target. `ad.iota` of i64 numbers the elements; bits of i64 at a scalar counter are a new key.

    Constraints: (C1) the shapes of `key` and `counter` broadcast; (C2) the result has the broadcast shape.

    Adjoint: none: integers.

    Example:
    ```mlir
    %y = ad.rng_bits %key, %counter : tensor<i64>, tensor<4xi64> -> tensor<4xi32>
    ```
  }];
}

def AD_RngUniformOp : AD_RandomOp<"rng_uniform", AD_TensorOf<AnyTypeOf<[F64, F32]>, "f64 or f32">> {
  let summary = "uniform random numbers of a key and a counter";
  let description = [{
    Semantics: a multiple of 2^-24 (f32) or 2^-53 (f64) in [0, 1), from the upper 24 bits of w0, or the upper 53 bits of
    w0 * 2^32 + w1, the words of `ad.rng_bits`. With the index of the element as counter these are the numbers of
    `uniform:KEY` of ad-runner.

    Constraints: (C1) the shapes of `key` and `counter` broadcast; (C2) the result has the broadcast shape.

    Adjoint: none: the operands are integers.

    Example:
    ```mlir
    %y = ad.rng_uniform %key, %counter : tensor<i64>, tensor<4xi64> -> tensor<4xf32>
    ```
  }];
}

def AD_RngNormalOp : AD_RandomOp<"rng_normal", AD_TensorOf<AnyTypeOf<[F64, F32]>, "f64 or f32">> {
  let summary = "normal random numbers of a key and a counter";
  let description = [{
    Semantics: sqrt(-2 ln(1 - u)) * cos(2 pi v) in f64, rounded to f32 for f32. u and v are the uniform f64 numbers of
    the words w0, w1 and w2, w3 of `ad.rng_bits`. With the index of the element as counter these are the numbers of
    `normal:KEY` of ad-runner.

    Constraints: (C1) the shapes of `key` and `counter` broadcast; (C2) the result has the broadcast shape.

    Adjoint: none: the operands are integers.

    Example:
    ```mlir
    %y = ad.rng_normal %key, %counter : tensor<i64>, tensor<4xi64> -> tensor<4xf32>
    ```
  }];
}

def AD_CastStochasticOp
    : AD_KeyedOp<"cast_stochastic",
                 AD_TensorOf<AnyTypeOf<[F16, BF16, F8E4M3FN, F8E5M2]>, "f16, bf16, f8E4M3FN or f8E5M2">> {
  let summary = "conversion to a narrower float with stochastic rounding";
  let description = [{
    Semantics: each element rounded to one of the two adjacent values that enclose it, to the upper one with the
    probability distance / ulp. For a magnitude that is d units above the value next below, the result is the value next
    above exactly if floor(d * 2^32) + R >= 2^32, where R is the i32 word of `ad.rng_bits` without sign. Values of the
    result's type are kept. A result that is too large, infinities and NaN are those of `ad.cast`.

    Constraints: (C1) the shapes of the operands broadcast; (C2) the result has the broadcast shape.

    Adjoint: the cotangent cast back, summed to the shape of `input`; none for `key` and `counter`.

    Example:
    ```mlir
    %y = ad.cast_stochastic %x, %key, %counter : tensor<4xf32>, tensor<i64>, tensor<4xi64> -> tensor<4xbf16>
    ```
  }];
  let arguments = (ins AD_TensorOf<F32, "f32">:$input, AD_CounterTensor:$key, AD_CounterTensor:$counter,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = [{
    $input `,` $key `,` $counter attr-dict `:` type($input) `,` type($key) `,` type($counter) `->` type($result)
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADRANDOMOPS
