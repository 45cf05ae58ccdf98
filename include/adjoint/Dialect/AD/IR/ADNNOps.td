// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Neural-network operations with a written decomposition.

#ifndef ADJOINT_DIALECT_AD_IR_ADNNOPS
#define ADJOINT_DIALECT_AD_IR_ADNNOPS

include "adjoint/Dialect/AD/IR/ADBase.td"


// Operations with a written decomposition into the other families (ad-decompose).
class AD_NNOp<string mnemonic, list<Trait> traits = []> : AD_ComputeOp<mnemonic, traits> {
  let extraClassDeclaration = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::reduce; }
    ::mlir::ad::OrderAttr getCanonicalOrder();
    ::mlir::ad::OrderAttr getSummationOrder() { return getOrderAttr(); }
  }];
  let hasVerifier = 1;
}

// Such an operation whose result has the type of its first operand: its sizes are those of that operand.
class AD_RowOp<string mnemonic, list<Trait> traits = []>
    : AD_NNOp<mnemonic, !listconcat([AD_ShapeOfFirstOperand], traits)> {
  code sizesDefinition = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return reifyLeadingSizes(*this, getInput(), builder, shapes);
    }
  }];
  let extraClassDefinition = sizesDefinition;
}

class AD_SoftmaxLikeOp<string mnemonic> : AD_RowOp<mnemonic, [SameOperandsAndResultType]> {
  let extraClassDefinition = sizesDefinition # [{
    ::llvm::LogicalResult $cppClass::verify() { return verifySoftmax(*this, getAxis()); }
    ::mlir::ad::OrderAttr $cppClass::getCanonicalOrder() { return orderAlongAxis(getType(), getAxis()); }
  }];
  let arguments = (ins AD_FloatTensor:$input, I64Attr:$axis, OptionalAttr<AD_OrderAttr>:$order,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` custom<LastType>(type($input))";
}

def AD_SoftmaxOp : AD_SoftmaxLikeOp<"softmax"> {
  let summary = "exponentials divided by their sum";
  let description = [{
    Semantics: with m the maximum along the axis and e = exp(x - m): e / sum(e). 16- and 8-bit types are computed in f32
    and rounded once at the end.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: y * (g - sum(g * y)) with y the result.

    Example:
    ```mlir
    %y = ad.softmax %x axis 1 : tensor<4x3xf32>
    ```
  }];
}

def AD_LogSoftmaxOp : AD_SoftmaxLikeOp<"log_softmax"> {
  let summary = "logarithm of softmax";
  let description = [{
    Semantics: with m the maximum along the axis and s = x - m: s - log(sum(exp(s))). 16- and 8-bit types are computed
    in f32 and rounded once at the end.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: g - exp(y) * sum(g) with y the result.

    Example:
    ```mlir
    %y = ad.log_softmax %x axis 1 : tensor<4x3xf32>
    ```
  }];
}

// A normalization of the last axis by its mean square. `scale`, and `bias` if there is one, have one type.
class AD_NormOp<string mnemonic, list<Trait> traits = []>
    : AD_RowOp<mnemonic, !listconcat([AllTypesMatch<["input", "result"]>], traits)> {
  let extraClassDefinition = sizesDefinition # [{
    ::llvm::LogicalResult $cppClass::verify() {
      return verifyNormalization(*this, getScale().getType(), getEpsilon());
    }
    ::mlir::ad::OrderAttr $cppClass::getCanonicalOrder() {
      return ::mlir::ad::OrderAttr::canonicalLanes(getContext());
    }
  }];
}

def AD_LayerNormOp : AD_NormOp<"layer_norm", [AllTypesMatch<["scale", "bias"]>]> {
  let summary = "normalization of the last axis to mean 0 and variance 1, scaled and shifted";
  let description = [{
    Semantics: with u the mean and d = x - u along the last axis, v the mean of d * d:
    d * rsqrt(v + epsilon) * scale + bias. 16- and 8-bit types are computed in f32 and rounded once at the end.

    Constraints: (C1) the rank of the input is at least 1; (C2) scale and bias are vectors with the element type
    of the input and the size of its last axis; (C3) epsilon is finite and not negative.

    Adjoint: of x: r * (h - mean(h) - n * mean(h * n)) with r = rsqrt(v + epsilon), n = d * r, h = g * scale; of scale:
    the sum of g * n over the other axes; of bias: the sum of g over the other axes.

    Example:
    ```mlir
    %y = ad.layer_norm %x, %scale, %bias epsilon 1.0e-5 : tensor<4x8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, AD_FloatTensor:$scale, AD_FloatTensor:$bias, F64Attr:$epsilon,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `epsilon` $epsilon attr-dict `:` type($input) `,` custom<LastType>(type($scale))
  }];
}

def AD_RmsNormOp : AD_NormOp<"rms_norm"> {
  let summary = "normalization of the last axis to mean square 1, scaled";
  let description = [{
    Semantics: with q the mean of x * x along the last axis: x * rsqrt(q + epsilon) * scale. 16- and 8-bit types are
    computed in f32 and rounded once at the end.

    Constraints: (C1) the rank of the input is at least 1; (C2) scale is a vector with the element type of the
    input and the size of its last axis; (C3) epsilon is finite and not negative.

    Adjoint: of x: r * (h - n * mean(h * n)) with r = rsqrt(q + epsilon), n = x * r, h = g * scale; of scale: the sum of
    g * n over the other axes.

    Example:
    ```mlir
    %y = ad.rms_norm %x, %scale epsilon 1.0e-5 : tensor<4x8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$input, AD_FloatTensor:$scale, F64Attr:$epsilon,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $scale `epsilon` $epsilon attr-dict `:` type($input) `,` custom<LastType>(type($scale))
  }];
}

def AD_CrossEntropyOp : AD_NNOp<"cross_entropy", [InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "negative log-likelihood of labels under softmax";
  let description = [{
    Semantics: along the last axis, with l = log_softmax(logits): -sum(labels * l) for labels of the logits' type and
    shape (probabilities), or -l[label] for i32 or i64 class numbers of the shape without the last axis. A row is
    ignored, with a loss of 0, if its class number is negative, or, where `ignored` is written, if it is that number.
    Numbers of other rows are at least 0 and below the number of classes, or an error at run time. One loss per row, no
    mean. 16- and 8-bit types are computed in f32 and rounded once at the end.

    Constraints: (C1) the rank of the logits is at least 1; (C2) labels have the element type of the logits, or
    i32 or i64; (C3) labels have the shape of the logits, class numbers without the last axis; (C4) the result
    has the element type of the logits and their shape without the last axis; (C5) `ignored` is a number of the type of
    the labels, which are class numbers.

    Adjoint: of the logits: g * (softmax(logits) * sum(labels) - labels), one-hot for class numbers; of probabilities:
    -g * l.

    Example:
    ```mlir
    %loss = ad.cross_entropy %logits, %labels : tensor<32x10xf32>, tensor<32xi32> -> tensor<32xf32>
    %padded = ad.cross_entropy %logits, %labels ignored 0 : tensor<32x10xf32>, tensor<32xi32> -> tensor<32xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$logits, AD_Tensor:$labels, OptionalAttr<I64Attr>:$ignored,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $labels (`ignored` $ignored^)? attr-dict `:` type($logits) `,` type($labels) `->` type($result)
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADNNOPS
