// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions.

#ifndef ADJOINT_DIALECT_AD_IR_ADREDUCTIONOPS
#define ADJOINT_DIALECT_AD_IR_ADREDUCTIONOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Interfaces/ReductionOpInterface.td"


// The inferred result has the operand's element type; the accumulator's may be written instead.
class AD_ReduceOp<string mnemonic, TypeConstraint type, list<Trait> traits = []>
    : AD_ComputeOp<mnemonic, !listconcat([InferTypeOpAdaptorWithIsCompatible], traits)> {
  let arguments = (ins type:$input, DenseI64ArrayAttr:$axes, UnitAttr:$keepDims,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs type:$result);
  let assemblyFormat = [{
    $input `axes` $axes (`keep_dims` $keepDims^)? attr-dict `:` type($input) `->` type($result)
  }];
  code declarations = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::reduce; }
    ::mlir::ad::OrderAttr getCanonicalOrder();
    ::mlir::ad::OrderAttr getSummationOrder() { return getOrderAttr(); }
    ::llvm::SmallVector<::mlir::utils::IteratorType> getIteratorTypes();
    ::llvm::SmallVector<::mlir::AffineMap> getAccessMaps();
  }];
  let extraClassDeclaration = declarations;
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let builders = [
    // The result has the operand's element type.
    OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$axes, CArg<"bool", "false">:$keepDims), [{
      ::mlir::Type type = reducedType(::llvm::cast<::mlir::RankedTensorType>(input.getType()), axes, keepDims);
      build($_builder, $_state, type, input, axes, keepDims, nullptr, nullptr);
    }]>
  ];
  // Shared by the family; the functions are in lib/Dialect/AD/IR/Ops/ADReductionOps.cpp.
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifyReduction(*this); }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferReduction(location, getOperationName(), adaptor.getInput().getType(), adaptor.getAxes(),
                            adaptor.getKeepDims(), types);
    }
    // The verifier says which other types are right.
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange) { return true; }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return reifyReduction(builder, getOperation(), getAxes(), shapes);
    }
    ::mlir::ad::OrderAttr $cppClass::getCanonicalOrder() { return canonicalOrderOfReduction(getInput(), getAxes()); }
    ::llvm::SmallVector<::mlir::utils::IteratorType> $cppClass::getIteratorTypes() {
      return iteratorsOfReduction(getInput().getType().getRank(), getAxes());
    }
    ::llvm::SmallVector<::mlir::AffineMap> $cppClass::getAccessMaps() {
      return accessesOfReduction(getContext(), getInput().getType().getRank(), getAxes(), getKeepDims());
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) { return foldReduction(*this, adaptor.getInput()); }
    void $cppClass::getCanonicalizationPatterns(::mlir::RewritePatternSet &patterns, ::mlir::MLIRContext *context) {
      patterns.add<ReplaceEmptyReductionByCast<$cppClass>>(context);
    }
  }];
}

// A reduction that kernels compute; a mean is decomposed before.
class AD_CombiningOp<string mnemonic, TypeConstraint type, string combiner>
    : AD_ReduceOp<mnemonic, type, [ReductionOpInterface]> {
  let extraClassDeclaration = declarations # [{
    ::mlir::ad::Combiner getCombiner() { return ::mlir::ad::Combiner::}] # combiner # [{; }
  }];
}

def AD_ReduceSumOp : AD_CombiningOp<"reduce_sum", AD_NumberTensor, "sum"> {
  let summary = "sum over axes";
  let description = [{
    Semantics: the sum over the listed axes, from the last to the first, accumulated in f32 (f64 for f64; integers wrap)
    in the written order and rounded once; empty: 0. The result is of the operand's type or of the accumulator's.

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the input
    or of the accumulator; (C3) the result has the sizes of the input without the reduced axes, or with size 1
    for them.

    Adjoint: g broadcast along the axes.

    Example:
    ```mlir
    %y = ad.reduce_sum %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
  }];
}

def AD_ReduceProdOp : AD_CombiningOp<"reduce_prod", AD_NumberTensor, "product"> {
  let summary = "product over axes";
  let description = [{
    Semantics: the product over the listed axes, accumulated like a sum; empty: 1.

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the input
    or of the accumulator; (C3) the result has the sizes of the input without the reduced axes, or with size 1
    for them.

    Adjoint: g times the product of all other elements.

    Example:
    ```mlir
    %y = ad.reduce_prod %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
  }];
}

def AD_ReduceMaxOp : AD_CombiningOp<"reduce_max", AD_NumberTensor, "maximum"> {
  let summary = "maximum over axes";
  let description = [{
    Semantics: the IEEE maximum over the listed axes: NaN propagates, -0 < +0; empty: the smallest value (-inf).

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the
    input; (C3) the result has the sizes of the input without the reduced axes, or with size 1 for them.

    Adjoint: g to one element, 0 to all others: to the one that `ad.argmax` finds along the reduced axes in row-major
    order, the first of several equal ones. Equal ones do not share g.

    Example:
    ```mlir
    %y = ad.reduce_max %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
  }];
}

def AD_ReduceMinOp : AD_CombiningOp<"reduce_min", AD_NumberTensor, "minimum"> {
  let summary = "minimum over axes";
  let description = [{
    Semantics: the IEEE minimum over the listed axes: NaN propagates, -0 < +0; empty: the largest value (+inf).

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the
    input; (C3) the result has the sizes of the input without the reduced axes, or with size 1 for them.

    Adjoint: g to one element, 0 to all others: to the one that `ad.argmin` finds along the reduced axes in row-major
    order, the first of several equal ones. Equal ones do not share g.

    Example:
    ```mlir
    %y = ad.reduce_min %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
  }];
}

def AD_ReduceMeanOp : AD_ReduceOp<"reduce_mean", AD_FloatTensor> {
  let summary = "mean over axes";
  let description = [{
    Semantics: the sum over the listed axes divided once, in the accumulator, by the number of elements; empty: NaN.

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the input
    or of the accumulator; (C3) the result has the sizes of the input without the reduced axes, or with size 1
    for them.

    Adjoint: g divided by the count, broadcast along the axes.

    Example:
    ```mlir
    %y = ad.reduce_mean %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
  }];
}

class AD_ArgReduceOp<string mnemonic> : AD_ComputeOp<mnemonic, [InferTypeOpAdaptor]> {
  let arguments = (ins AD_Tensor:$input, I64Attr:$axis, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_IndexTensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` custom<LastType>(type($input))";
  let extraClassDeclaration = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::reduce; }
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferArgReduction(location, getOperationName(), adaptor.getInput().getType(), adaptor.getAxis(), types);
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return reifyReduction(builder, getOperation(), getAxis(), shapes);
    }
  }];
}

def AD_ArgmaxOp : AD_ArgReduceOp<"argmax"> {
  let summary = "index of the largest element";
  let description = [{
    Semantics: the i64 index along the axis of the largest element; the first one wins, and the first NaN wins over all
    numbers; -0 < +0, and false < true. The axis may not be empty.

    Constraints: (C1) the axis is one of the input's; (C2) a static size along the axis is not 0; (C3) the
    result has elements of type i64 and the sizes of the input without the axis.

    Adjoint: none: the result is an integer.

    Example:
    ```mlir
    %y = ad.argmax %x axis 1 : tensor<4x3xf32>
    ```
  }];
}

def AD_ArgminOp : AD_ArgReduceOp<"argmin"> {
  let summary = "index of the smallest element";
  let description = [{
    Semantics: the i64 index along the axis of the smallest element; the first one wins, and the first NaN wins over all
    numbers; -0 < +0, and false < true. The axis may not be empty.

    Constraints: (C1) the axis is one of the input's; (C2) a static size along the axis is not 0; (C3) the
    result has elements of type i64 and the sizes of the input without the axis.

    Adjoint: none: the result is an integer.

    Example:
    ```mlir
    %y = ad.argmin %x axis 1 : tensor<4x3xf32>
    ```
  }];
}

// Every step of a reduction along one axis is a result.
class AD_RunningOp<string mnemonic, string combiner>
    : AD_ComputeOp<mnemonic, [SameOperandsAndResultType, AD_ShapeOfFirstOperand, AD_RunningReduction]> {
  let arguments = (ins AD_NumberTensor:$input, I64Attr:$axis, OptionalAttr<AD_OrderAttr>:$order,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_NumberTensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` custom<LastType>(type($input))";
  let extraClassDeclaration = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::reduce; }
    ::mlir::ad::OrderAttr getCanonicalOrder() { return ::mlir::ad::OrderAttr::canonicalScan(getContext()); }
    ::mlir::ad::OrderAttr getSummationOrder() { return getOrderAttr(); }
    ::mlir::ad::Combiner getCombiner() { return ::mlir::ad::Combiner::}] # combiner # [{; }
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifyRunning(*this, getAxis()); }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return reifyReduction(builder, *this, {}, shapes);
    }
  }];
}

def AD_CumsumOp : AD_RunningOp<"cumsum", "sum"> {
  let summary = "running sum along an axis";
  let description = [{
    Semantics: element i is the sum of the elements 0 to i in the written order, accumulated in f32 (f64 for f64;
    integers wrap); each result rounds once.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: the reversed running sum of the cotangent.

    Example:
    ```mlir
    %y = ad.cumsum %x axis 1 : tensor<4x3xf32>
    ```
  }];
}

def AD_CumprodOp : AD_RunningOp<"cumprod", "product"> {
  let summary = "running product along an axis";
  let description = [{
    Semantics: element i is the product of the elements 0 to i in the written order, accumulated in f32 (f64 for f64;
    integers wrap); each result rounds once.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: at i, the product of the elements before i, times s(i) = g(i) + x(i + 1) * s(i + 1): without a division, so
    that zeros among the elements have the right one.

    Example:
    ```mlir
    %y = ad.cumprod %x axis 1 : tensor<4x3xf32>
    ```
  }];
}

def AD_CummaxOp : AD_RunningOp<"cummax", "maximum"> {
  let summary = "running maximum along an axis";
  let description = [{
    Semantics: element i is the IEEE maximum of the elements 0 to i: NaN propagates, -0 < +0.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: g(i) goes to the element that result i is, to the first of several equal ones.

    Example:
    ```mlir
    %y = ad.cummax %x axis 1 : tensor<4x3xf32>
    ```
  }];
}

def AD_CumminOp : AD_RunningOp<"cummin", "minimum"> {
  let summary = "running minimum along an axis";
  let description = [{
    Semantics: element i is the IEEE minimum of the elements 0 to i: NaN propagates, -0 < +0.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: g(i) goes to the element that result i is, to the first of several equal ones.

    Example:
    ```mlir
    %y = ad.cummin %x axis 1 : tensor<4x3xf32>
    ```
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADREDUCTIONOPS
