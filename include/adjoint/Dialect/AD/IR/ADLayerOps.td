// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of layers that are defined by their decompositions.

#ifndef ADJOINT_DIALECT_AD_IR_ADLAYEROPS
#define ADJOINT_DIALECT_AD_IR_ADLAYEROPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Interfaces/NamedKernelOpInterface.td"
include "adjoint/Interfaces/PrecisionOpInterface.td"

class AD_LayerOp<string mnemonic, list<Trait> traits = []>
    : AD_ComputeOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<NamedKernelOpInterface, ["decompose"]>], traits)>;

// Such an operation whose first result has the type of its first operand.
class AD_ShapeKeepingLayerOp<string mnemonic, list<Trait> traits = []>
    : AD_LayerOp<mnemonic, !listconcat([AllTypesMatch<["input", "result"]>], traits)> {
  let hasVerifier = 1;
}

def AD_Counter : Type<CPred<"$_self == ::mlir::RankedTensorType::get({}, ::mlir::IntegerType::get($_self.getContext(), 64))">,
                      "tensor<i64>", "::mlir::RankedTensorType">,
                 BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;

def AD_OneHotOp : AD_LayerOp<"one_hot"> {
  let summary = "ones at numbers along a new axis, zeros elsewhere";
  let description = [{
    Semantics: the result has one axis more than the input. Along it, the element with the number that the input has is
    1, all others are 0. A number below 0, or not below the size of the axis, has zeros alone.

    Constraints: (C1) the axis is one of the result's, and the result has the sizes of the input along the others; (C2)
    its size is static.

    Adjoint: none: the operand is an integer.

    Example:
    ```mlir
    %y = ad.one_hot %labels axis 1 : tensor<4xi32> -> tensor<4x10xf32>
    ```
  }];
  let arguments = (ins AD_IntegerTensor:$input, I64Attr:$axis, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def AD_LogSumExpOp : AD_LayerOp<"logsumexp", [InferTypeOpAdaptor]> {
  let summary = "logarithm of the sum of exponentials along an axis";
  let description = [{
    Semantics: with m the maximum along the axis, or 0 where that is not finite: log(sum(exp(x - m))) + m. 16- and 8-bit
    types are computed in f32 and rounded once at the end. Empty: -inf.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: g * softmax(x), computed again from x; 0 in rows whose result is -inf.

    Example:
    ```mlir
    %y = ad.logsumexp %x axis 1 : tensor<4x3xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, I64Attr:$axis, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` custom<LastType>(type($input))";
}

def AD_RotaryEmbeddingOp : AD_ShapeKeepingLayerOp<"rotary_embedding"> {
  let summary = "pairs of elements rotated by angles that grow with the position";
  let description = [{
    Semantics: the last axis has pairs: elements i and i + n / 2 of n, or with `interleaved` elements 2 i and 2 i + 1.
    With a = position * base^(-2 i / n), pair (x, y) becomes (x * cos(a) - y * sin(a), y * cos(a) + x * sin(a)).
    Positions broadcast to the shape of the input without its last axis. The powers are computed in f64 and rounded to
    f32 (f64 for f64), in which everything else is computed; the result rounds once.

    Constraints: (C1) the last axis of the input has a static and even size; (C2) the shape of the positions broadcasts
    to that of the input without its last axis; (C3) base is finite and positive.

    Adjoint: of the input: the cotangent rotated back, that is by the negated positions; none for the positions.

    Example:
    ```mlir
    %y = ad.rotary_embedding %x, %positions base 1.0e4 : tensor<2x8x16x64xf32>, tensor<16xi32>
    %z = ad.rotary_embedding %x, %positions base 1.0e4 interleaved : tensor<2x8x16x64xf32>, tensor<16xi32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, AD_IntegerTensor:$positions, F64Attr:$base, UnitAttr:$interleaved,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $positions `base` $base (`interleaved` $interleaved^)? attr-dict `:` type($input) `,` type($positions)
  }];
}

def AD_DropoutOp : AD_ShapeKeepingLayerOp<"dropout"> {
  let summary = "elements that are zero at random";
  let description = [{
    Semantics: element number e, in row-major order, is x / (1 - rate) where the uniform f32 number that
    `ad.rng_uniform` has for the key and `counter + e` is at least the rate, which is rounded to f32; else 0. 16- and
    8-bit types are computed in f32 and rounded once.

    Constraints: (C1) the rate is at least 0 and, rounded to f32, below 1.

    Adjoint: ad.dropout of the cotangent, with the same key and counter; nothing is saved. None for key and counter.

    Example:
    ```mlir
    %y = ad.dropout %x, %key, %counter rate 0.1 : tensor<4x3xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, AD_Counter:$key, AD_Counter:$counter, F64Attr:$rate,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = "$input `,` $key `,` $counter `rate` $rate attr-dict `:` type($input)";
}

// A normalization of channels, which are along `axis`; axis 0 is the batch.
class AD_ChannelNormOp<string mnemonic, list<Trait> traits = []>
    : AD_LayerOp<mnemonic, !listconcat([AllTypesMatch<["input", "result"]>, AllTypesMatch<["scale", "bias"]>], traits)> {
  let hasVerifier = 1;
}

def AD_GroupNormOp : AD_ChannelNormOp<"group_norm"> {
  let summary = "normalization of groups of channels to mean 0 and variance 1, scaled and shifted";
  let description = [{
    Semantics: axis 0 is the batch, and `axis` has the channels, which make `groups` groups of adjacent ones. A group of
    an example with all positions of the other axes is a row, channels first, of which `ad.layer_norm` computes mean and
    variance. Each element is then multiplied by the scale of its channel, and the bias is added. 16- and 8-bit types
    are computed in f32 and rounded once at the end.

    Constraints: (C1) `axis` is an axis of the input but the first; (C2) there is a static number of channels, a
    multiple of the groups, of which there is at least one; (C3) scale and bias are vectors with the element type of the
    input and the number of channels; (C4) epsilon is finite and not negative.

    Adjoint: that of the decomposition.

    Example:
    ```mlir
    %y = ad.group_norm %x, %scale, %bias groups 4 axis 1 epsilon 1.0e-5 : tensor<2x8x4x4xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, AD_FloatTensor:$scale, AD_FloatTensor:$bias, I64Attr:$groups, I64Attr:$axis,
                       F64Attr:$epsilon, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `groups` $groups `axis` $axis `epsilon` $epsilon attr-dict
    `:` type($input) `,` type($scale)
  }];
}

def AD_BatchNormOp : AD_LayerOp<"batch_norm", [
    InferTypeOpAdaptor, AllTypesMatch<["scale", "bias"]>,
    DeclareOpInterfaceMethods<PrecisionOpInterface, ["keepsResultType"]>]> {
  let summary = "normalization of channels by the statistics of a batch, which are results too";
  let description = [{
    Semantics: with u the mean of x over all axes but `axis`, which has the channels, d = x - u, and v the mean of d * d:
    d * rsqrt(v + epsilon) * scale + bias. u and v are the second and the third result, in the type of the accumulator.
    16- and 8-bit types are computed in f32, and the first result rounds once at the end.

    Constraints: (C1) `axis` is an axis of the input; (C2) there is a static number of channels; (C3) scale and bias are
    vectors with the element type of the input and the number of channels; (C4) epsilon is finite and not negative.

    Adjoint: that of the decomposition.

    Example:
    ```mlir
    %y, %mean, %variance = ad.batch_norm %x, %scale, %bias axis 1 epsilon 1.0e-5 : tensor<2x8x4x4xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, AD_FloatTensor:$scale, AD_FloatTensor:$bias, I64Attr:$axis,
                       F64Attr:$epsilon, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result, AD_FloatTensor:$mean, AD_FloatTensor:$variance);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `axis` $axis `epsilon` $epsilon attr-dict `:` type($input) `,` type($scale)
  }];
}

def AD_BatchNormInferenceOp : AD_ChannelNormOp<"batch_norm_inference", [AllTypesMatch<["mean", "variance"]>]> {
  let summary = "normalization of channels by given statistics";
  let description = [{
    Semantics: (x - mean) * rsqrt(variance + epsilon) * scale + bias, with the statistics of the element's channel, which
    is along `axis`. 16- and 8-bit types are computed in f32 and rounded once at the end.

    Constraints: (C1) `axis` is an axis of the input; (C2) there is a static number of channels; (C3) scale and bias are
    vectors with the element type of the input and the number of channels, mean and variance have that type, too, or
    that of the accumulator; (C4) epsilon is finite and not negative.

    Adjoint: that of the decomposition.

    Example:
    ```mlir
    %y = ad.batch_norm_inference %x, %scale, %bias, %mean, %variance axis 1 epsilon 1.0e-5 : tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, AD_FloatTensor:$scale, AD_FloatTensor:$bias, AD_FloatTensor:$mean,
                       AD_FloatTensor:$variance, I64Attr:$axis, F64Attr:$epsilon,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `,` $mean `,` $variance `axis` $axis `epsilon` $epsilon attr-dict
    `:` type($input) `,` type($scale) `,` type($mean)
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADLAYEROPS
