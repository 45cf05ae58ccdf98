// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Attention, and the operation of its derivative.

#ifndef ADJOINT_DIALECT_AD_IR_ADATTENTIONOPS
#define ADJOINT_DIALECT_AD_IR_ADATTENTIONOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Interfaces/NamedKernelOpInterface.td"
include "adjoint/Interfaces/PrecisionOpInterface.td"

// What attention and its derivative share: the operands of the scores, and which of them count.
class AD_AttentionLikeOp<string mnemonic, dag operands, list<Trait> traits>
    : AD_ComputeOp<mnemonic, !listconcat([
        InferTypeOpAdaptor, DeclareOpInterfaceMethods<NamedKernelOpInterface, ["decompose"]>], traits)> {
  let arguments = !con(operands, (ins Optional<AD_Tensor>:$mask, UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
                                      OptionalAttr<F64Attr>:$scale, OptionalAttr<F64Attr>:$softcap,
                                      OptionalAttr<I64Attr>:$chunk, OptionalAttr<AD_PermissionsAttr>:$allow));
}

def AD_AttentionOp : AD_AttentionLikeOp<"attention",
    (ins AD_FloatTensor:$query, AD_FloatTensor:$key, AD_FloatTensor:$value),
    [DeclareOpInterfaceMethods<PrecisionOpInterface, ["keepsResultType"]>]> {
  let summary = "weighted means of values, with softmax of scores between queries and keys as weights";
  let description = [{
    Semantics: for query i, with scores s[j] = softcap * tanh(scale * (q[i] . k[j]) / softcap), or scale * (q[i] . k[j])
    without softcap, plus mask[i, j]: the sum over keys j of softmax(s)[j] * v[j]. The scale is 1 / sqrt(depth) unless it
    is written. A key does not count where a boolean mask is false, with `causal` if j > i, with `window` w if
    i - j >= w or j - i >= w. A query for which no key counts has zeros. With fewer heads of keys and values, each
    serves as many adjacent heads of queries. The second result is log(sum(exp(s))), in the accumulator's type. The
    keys come in chunks, in an order that docs/spec/attention.md writes: no tensor has the scores of more than 256
    queries and a chunk.

    Constraints: (C1) query [batch, heads, queries, depth], key [batch, groups, keys, depth] and value [batch, groups,
    keys, width] have rank 4 and one element type; (C2) sizes of one name agree; (C3) heads, groups, depth and width are
    static and at least 1, and heads is a multiple of groups; (C4) the mask has rank 4, the elements i1 or those of the
    query, and sizes of 1 or of [batch, heads, queries, keys]; (C5) window and chunk are at least 1, scale is finite,
    softcap is finite and positive.

    Adjoint: ad.attention_grad, which computes the scores again.

    Example:
    ```mlir
    %y, %l = ad.attention %q, %k, %v causal : tensor<2x8x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>
    %z, %m = ad.attention %q, %k, %v mask %b scale 0.125 : tensor<2x8x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x1x1x64xi1>
    ```
  }];
  let results = (outs AD_FloatTensor:$result, AD_FloatTensor:$logSum);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`causal` $causal^)? (`window` $window^)? (`scale` $scale^)?
    (`softcap` $softcap^)? (`chunk` $chunk^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`,` type($mask)^)?
  }];
}

def AD_AttentionGradOp : AD_AttentionLikeOp<"attention_grad",
    (ins AD_FloatTensor:$query, AD_FloatTensor:$key, AD_FloatTensor:$value, AD_FloatTensor:$logSum,
         AD_FloatTensor:$delta, AD_FloatTensor:$cotangent), []> {
  let summary = "cotangents of the operands of ad.attention";
  let description = [{
    Semantics: with the weights p[i, j] = exp(s[i, j] - logSum[i]) of ad.attention, for the cotangent g of its first
    result and d[i, j] = p[i, j] * (g[i] . v[j] - delta[i]): of the values, the sum over i of p[i, j] * g[i]; of the
    scores, d; of queries and keys those of s[i, j]; of a mask of floats, d summed to its sizes, as a fourth result.
    delta[i] is the sum of g[i] times the first result of the query, less the cotangent of logSum[i].

    Constraints: (C1) query, key, value, mask and attributes are those of ad.attention; (C2) the cotangent has the
    type of its first result; (C3) logSum and delta have the type of its second result.

    Adjoint: that of the decomposition, which needs static numbers of queries and keys.

    Example:
    ```mlir
    %dq, %dk, %dv = ad.attention_grad %q, %k, %v, %l, %d, %g causal : tensor<2x8x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x8x64xf32>, tensor<2x8x64xf32>, tensor<2x8x64x32xf32>
    ```
  }];
  let results = (outs AD_FloatTensor:$queryGrad, AD_FloatTensor:$keyGrad, AD_FloatTensor:$valueGrad,
                      Optional<AD_FloatTensor>:$maskGrad);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $logSum `,` $delta `,` $cotangent (`mask` $mask^)? (`causal` $causal^)?
    (`window` $window^)? (`scale` $scale^)? (`softcap` $softcap^)? (`chunk` $chunk^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `,` type($logSum) `,` type($delta) `,` type($cotangent)
    (`,` type($mask)^)?
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADATTENTIONOPS
