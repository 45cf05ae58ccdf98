// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions.

#ifndef ADJOINT_DIALECT_AD_IR_ADCONTRACTIONOPS
#define ADJOINT_DIALECT_AD_IR_ADCONTRACTIONOPS

include "adjoint/Dialect/AD/IR/ADBase.td"


// A sum of products. Order and permissions are inherent attributes. The inferred result has the operands' element type;
// the accumulator's may be written instead.
class AD_ContractionOp<string mnemonic, list<Trait> traits = []>
    : AD_ComputeOp<mnemonic, !listconcat([InferTypeOpAdaptorWithIsCompatible], traits)> {
  code contractionDeclarations = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::dot; }
    ::mlir::ad::OrderAttr getCanonicalOrder();
    ::mlir::ad::OrderAttr getSummationOrder() { return getOrderAttr(); }
    ::llvm::SmallVector<::mlir::utils::IteratorType> getIteratorTypes();
    ::llvm::SmallVector<::mlir::AffineMap> getAccessMaps();
  }];
  let extraClassDeclaration = contractionDeclarations;
  let hasVerifier = 1;
}

def AD_DotOp : AD_ContractionOp<"dot"> {
  let summary = "contraction of two tensors";
  let description = [{
    Semantics: result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n] with any batch (b) and contracting (k) axes;
    the result's axes are the batch axes, then the free axes of lhs, then those of rhs. Without lists it is NumPy's
    matmul for ranks of at least one, with equal batch axes: batch axes lead, and the last axis of lhs is contracted
    with the last but one of rhs (the only one of a vector). Accumulates in f32 (f64 for f64; integers wrap) in the
    written order and rounds once; the result is of the operands' type or of the accumulator's. The operands have one
    element type, or two of the 8-bit float types.

    Constraints: (C1) operands have one element type, or each an 8-bit float type; the result has that of an
    operand or of the accumulator; (C2) there are as many batch axes of both operands, and as many contracting
    axes; (C3) axes are in range, and no axis is listed twice for its operand; (C4) static sizes of
    paired axes agree; (C5) the result has the sizes of the batch axes, then of the free axes of lhs, then of
    the free axes of rhs.

    Adjoint: ad.dot of the cotangent with the other operand, transposed to the operand's axes.

    Example:
    ```mlir
    %c = ad.dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %d = ad.dot %a, %e batch [0] x [0] contract [2] x [2] : (tensor<5x4x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x2xf32>
    ```
  }];
  let arguments = (ins AD_NumberTensor:$lhs, AD_NumberTensor:$rhs,
                       DenseI64ArrayAttr:$lhsBatch, DenseI64ArrayAttr:$rhsBatch,
                       DenseI64ArrayAttr:$lhsContract, DenseI64ArrayAttr:$rhsContract,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_NumberTensor:$result);
  // The lists of axes are left out when they are those of matmul.
  let hasCustomAssemblyFormat = 1;
  let builders = [
    // NumPy's matmul; the result has the operands' element type.
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs)>,
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::llvm::ArrayRef<int64_t>":$lhsBatch,
                   "::llvm::ArrayRef<int64_t>":$rhsBatch, "::llvm::ArrayRef<int64_t>":$lhsContract,
                   "::llvm::ArrayRef<int64_t>":$rhsContract)>
  ];
}

def AD_GemmOp : AD_ContractionOp<"gemm", []> {
  let summary = "matrix product with scaling, transposition and bias";
  let description = [{
    Semantics: alpha * op(lhs) * op(rhs) + beta * bias, rounded once: the product accumulates as in ad.dot, is
    multiplied by alpha, and beta * bias is added, all in the accumulator's type. The bias broadcasts to the result.
    alpha and beta equal to 1 multiply nothing.

    Constraints: (C1) element types are as in C1 of `ad.dot`; the bias has that of lhs or of the result; (C2)
    operands and result have rank 2; (C3) static contracting sizes agree; (C4) the result has the rows of
    op(lhs) and the columns of op(rhs); (C5) the bias broadcasts to the result; (C6) without a bias, beta is 1.

    Adjoint: alpha * g * op(rhs)^T, alpha * op(lhs)^T * g (transposed as the operand is) and beta * g summed to the
    bias.

    Example:
    ```mlir
    %y = ad.gemm %x, %w, %b {transB} : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$lhs, AD_FloatTensor:$rhs, Optional<AD_FloatTensor>:$bias,
                       UnitAttr:$transA, UnitAttr:$transB,
                       DefaultValuedAttr<F64Attr, "1.0">:$alpha, DefaultValuedAttr<F64Attr, "1.0">:$beta,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_FloatTensor:$result);
  let extraClassDeclaration = contractionDeclarations # [{
    ::mlir::OpOperand *getBroadcastOperand() { return getBias() ? &getBiasMutable()[0] : nullptr; }
  }];
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` $bias^)? attr-dict `:` custom<GemmTypes>(type($lhs), type($rhs), type($bias), type($result))
  }];
}

// scaled_dot_c1
def AD_WideFloatTensor : AD_TensorOf<AnyTypeOf<[F32, F16, BF16]>, "f32, f16 or bf16">;
def AD_ScaleTensor : ConfinedType<0DTensorOf<[F32]>, [AD_NoEncoding], "tensor<f32>", "::mlir::RankedTensorType">;

def AD_ScaledDotOp : AD_Op<"scaled_dot", [
    Pure, NumericsOpInterface,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "contraction of two tensors that are scaled and rounded to 8 bits";
  let description = [{
    Semantics: each operand times its scale is rounded to its 8-bit type; the contraction of both, as in ad.dot, is
    multiplied by (1 / lhs scale) * (1 / rhs scale). The second and third result are the largest magnitudes of the
    operands, from which later scales are computed. `scales` has none, two (of lhs and rhs) or three values; the third
    is the scale of the cotangent. A scale that is not given is the largest power of two with which the largest
    magnitude stays finite in the 8-bit type. `types` are those of lhs, rhs and cotangent: by default f8E4M3FN,
    f8E4M3FN and f8E5M2. `batch` and `contract` are those of ad.dot.

    Constraints: (C1) operands and result have elements of f32, f16 or bf16, not necessarily the same; (C2) there
    are no scales, two or three, of type tensor<f32>; (C3) types are f8E4M3FN or f8E5M2; (C4) axes and shape of the
    result are as in C2 to C5 of `ad.dot`.

    Adjoint: ad.scaled_dot of the cotangent, in its type and scale, with the other operand. The cotangent of a scale is
    no derivative: it is the largest magnitude of what the scale multiplies. That of the other results is ignored.

    Example:
    ```mlir
    %y, %largest_x, %largest_w = ad.scaled_dot %x, %w : (tensor<4x8xbf16>, tensor<8x2xf32>) -> tensor<4x2xbf16>
    %z, %largest_l, %largest_r = ad.scaled_dot %l, %r scales(%sl, %sr, %sg) types [f8E4M3FN, f8E5M2, f8E5M2]
        batch [0] x [0] contract [2] x [2] : (tensor<5x4x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x2xf32>
    ```
  }];
  let arguments = (ins AD_WideFloatTensor:$lhs, AD_WideFloatTensor:$rhs, Variadic<AD_ScaleTensor>:$scales,
                       TypeAttr:$lhsType, TypeAttr:$rhsType, TypeAttr:$cotangentType,
                       DenseI64ArrayAttr:$lhsBatch, DenseI64ArrayAttr:$rhsBatch,
                       DenseI64ArrayAttr:$lhsContract, DenseI64ArrayAttr:$rhsContract,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_WideFloatTensor:$result, AD_ScaleTensor:$lhsLargest, AD_ScaleTensor:$rhsLargest);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [
    // `types` are those of lhs, rhs and cotangent; `element` is that of the result.
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::mlir::ValueRange":$scales,
                   "::llvm::ArrayRef<::mlir::Type>":$types, "::mlir::Type":$element,
                   "::llvm::ArrayRef<int64_t>":$lhsBatch, "::llvm::ArrayRef<int64_t>":$rhsBatch,
                   "::llvm::ArrayRef<int64_t>":$lhsContract, "::llvm::ArrayRef<int64_t>":$rhsContract)>
  ];
  let extraClassDeclaration = [{
    ::mlir::ad::OrderAttr getCanonicalOrder();
    ::mlir::ad::OrderAttr getSummationOrder() { return getOrderAttr(); }
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADCONTRACTIONOPS
